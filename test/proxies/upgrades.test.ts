import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realDelay } from '../real-delay.ts';
import { reservedPort } from '../redis/servers/port.ts';
import { until } from '../redis/servers/until.ts';
import { sized } from '../sized.ts';
import { Program } from './program.ts';
import { PROXIES } from './proxies.ts';
import { Site } from './site.ts';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const LIMITS = 'Upgrades: { burst: 10000, count: 1, period: 1s, idFormat: clientNetwork }\n';
const RULE = '{ limit: Upgrades, id: address }';
const TABLES = `http: { nginx: { accelRedirect: '@backend', limits: [${RULE}] }, api: { limits: [${RULE}] } }`;
const RESETS = sized(60, 300);
const AT_ONCE = 6;
const UPGRADE = 'GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';

/** Asks for an upgrade, and resets the connection: at once, while the server waits before its answer, or after it. */
async function reset(port: number, i: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const answered = new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
  await new Promise<void>((resolve) => void socket.write(UPGRADE, () => resolve()));
  if (i % 3 === 1) await realDelay(i % 20);
  else if (i % 3 === 2) await answered;
  socket.resetAndDestroy();
}

describe.each(PROXIES)('$name', (proxy) => {
  let site: Site;
  let backend: Program;
  beforeAll(async () => {
    const port = await reservedPort();
    const args = [
      '--conditions=@sluice/source',
      '--import',
      file('../redis/processes/typescript.mjs'),
      file('upgrade-backend.ts'),
    ];
    backend = await Program.start(process.execPath, [...args, String(port)], port);
    site = await Site.start(proxy, { backend: port, limits: LIMITS, tables: TABLES });
    await until('requests pass', async () => (await site.ask()).body === 'plain');
  });
  afterAll(async () => {
    await site.close();
    await backend.stop('SIGKILL');
  });

  test('clients that reset their upgrades end neither the service nor a server with limitUpgrade', async () => {
    for (let i = 0; i < RESETS; i += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => reset(site.port, i + n)));
    }
    await until('resets have reached the server', () => /ended by an error|Error:/.test(backend.output));
    expect(backend.output).not.toContain('Error:');
    expect((await site.ask()).body).toBe('plain');
    expect([backend.isRunning, site.service.isRunning]).toEqual([true, true]);
  });
});

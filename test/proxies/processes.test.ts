import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { reservedPort } from '../redis/servers/port.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { until } from '../redis/servers/until.ts';
import { Program } from './program.ts';

const MAIN = fileURLToPath(new URL('../../packages/cli/dist/main.js', import.meta.url));

/** A service of two processes on one Redis. */
async function serviceOn(redisUrl: string, count: number) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  const [port, metrics] = [await reservedPort(), await reservedPort()];
  writeFileSync(join(folder, 'limits.yaml'), `PerClient: { count: ${count}, period: 1h, idFormat: clientNetwork }\n`);
  writeFileSync(join(folder, 'tables.yaml'), 'http: { api: { limits: [{ limit: PerClient, id: address }] } }\n');
  const options = [
    '--http',
    `127.0.0.1:${port}`,
    '--metrics',
    `127.0.0.1:${metrics}`,
    '--processes',
    '2',
    '--deadline',
    '1000',
  ];
  const args = [MAIN, 'serve', 'limits.yaml', 'tables.yaml', ...options, '--redis', redisUrl];
  const program = await Program.start(process.execPath, args, port, folder);
  onTestFinished(async () => {
    await program.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  // The port is open when the first process listens; the program says so when all do.
  await until('all processes listen', () => program.output.includes('metrics listens on'));
  const ask = async (client = '203.0.113.7'): Promise<number> => {
    const url = `http://127.0.0.1:${port}/check/api`;
    return (await fetch(url, { headers: { 'X-Forwarded-For': client, Connection: 'close' } })).status;
  };
  const counted = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  return { program, ask, counted };
}

/** The worker processes of a service. */
function workersOf({ pid }: Program): readonly number[] {
  return String(execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)]))
    .trim()
    .split(/\s+/)
    .map(Number);
}

test('two services of two processes share the limits of one Redis, and their metrics are those of all processes', async () => {
  const redis = await redisServer();
  const services = [await serviceOn(redis.url, 30), await serviceOn(redis.url, 30)];
  const statuses = await Promise.all(Array.from({ length: 60 }, (_, i) => services[i % 2]!.ask()));
  expect(statuses.filter((status) => status === 200)).toHaveLength(30);
  expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  const total = (text: string): number =>
    [...text.matchAll(/^sluice_decisions_total\{.*\} (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
  expect(await Promise.all(services.map(async ({ counted }) => total(await counted())))).toEqual([30, 30]);
});

test('a process that is killed is replaced, and SIGTERM under load loses no request that was accepted', async () => {
  const redis = await redisServer();
  const { program, ask } = await serviceOn(redis.url, 1_000_000);
  const [killed] = workersOf(program);
  process.kill(killed!, 'SIGKILL');
  await until('another process replaces it', () => {
    const now = workersOf(program);
    return now.length === 2 && !now.includes(killed!);
  });
  await until('it answers', async () => (await ask()) === 200);
  let isEnding = false;
  const statuses: (number | 'refused' | 'lost')[] = [];
  const clients = Array.from({ length: 8 }, async () => {
    while (statuses.at(-1) !== 'refused') {
      // oxlint-disable-next-line no-await-in-loop -- one request after the other
      const status = await ask().catch((error: Error) =>
        codeOf(error) === 'ECONNREFUSED' && isEnding ? 'refused' : 'lost',
      );
      statuses.push(status);
    }
  });
  await until('there is traffic', () => statuses.length > 50);
  isEnding = true;
  expect(await program.stop('SIGTERM')).toBe(0);
  await Promise.all(clients);
  // A connection that the kernel has accepted, but no process, is reset: the proxy tries again.
  const lost = statuses.filter((status) => status === 'lost').length;
  expect(lost).toBeLessThanOrEqual(8);
  expect(new Set(statuses.filter((status) => typeof status === 'number'))).toEqual(new Set([200]));
});

function codeOf({ cause }: Error): unknown {
  return (cause as { readonly code?: unknown } | undefined)?.code;
}

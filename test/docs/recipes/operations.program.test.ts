import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../redis/servers/until.ts';
import { limitedApp } from './pino.ts';
import { app } from '../code/recipes/prometheus.ts';
import { serve } from '../serve.ts';

const RESTART = fileURLToPath(new URL('../code/recipes/restart.ts', import.meta.url));

it('Prometheus: decisions are counted by limit and outcome', async () => {
  const url = await serve(app);
  const all = await Promise.all(Array.from({ length: 150 }, () => fetch(url)));
  const denied = all.filter(({ status }) => status === 429).length;
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const decisions = (outcome: string, count: number): string =>
    `sluice_decisions_total{limit="Requests",outcome="${outcome}",policy="",shadow="false"} ${count}\n`;
  expect(metrics).toContain(decisions('allowed', 150 - denied));
  expect(metrics).toContain(decisions('denied', denied));
});

it('pino: a log line of the limiter is a warning', async () => {
  const lines: unknown[] = [];
  const url = await serve(limitedApp(pino({}, { write: (line) => lines.push(JSON.parse(line)) })));
  // From a peer that looks like a proxy, while `trustedProxies` is unset.
  await fetch(url, { headers: { 'X-Forwarded-For': '203.0.113.7' } });
  expect(lines).toMatchObject([{ level: 40, msg: expect.stringContaining('trustedProxies') }]);
});

it('restart: a client that has used up its limit is denied by the next process, too, but not after a crash', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-restart-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'buckets.bin');
  const port = await freePort();

  const first = await restartable(file, port);
  const all = await Promise.all(Array.from({ length: 101 }, () => first.get()));
  expect(all.filter((status) => status === 429)).toHaveLength(1);
  expect(await first.end('SIGTERM')).toEqual({ code: 0, printed: '' });
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const second = await restartable(file, port);
  expect(await second.get()).toBe(429);
  await second.end('SIGKILL');
  const third = await restartable(file, port);
  expect(await third.get()).toBe(200);
  await third.end('SIGKILL');

  writeFileSync(file, 'something else');
  const fourth = await restartable(file, port);
  expect(await fourth.get()).toBe(200);
  expect((await fourth.end('SIGTERM')).printed).toContain('ERR_DUMP');
});

/** A process of the recipe for restarts, once it listens. */
async function restartable(file: string, port: number) {
  const child = node(RESTART, [], { BUCKETS: file, PORT: String(port) });
  const [out, error, exit] = [text(child.stdout), text(child.stderr), once(child, 'exit')];
  const get = async (): Promise<number> => (await fetch(`http://127.0.0.1:${port}/`)).status;
  await until('it listens', () => isOpen(port));
  return {
    get,
    async end(signal: NodeJS.Signals) {
      child.kill(signal);
      const [code] = await exit;
      return { code, printed: (await out) + (await error) };
    },
  };
}

/** Whether a process listens. A request would be counted. */
async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Starts a recipe in a process of its own. */
function node(script: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const loader = new URL('../../redis/processes/typescript.mjs', import.meta.url).href;
  return spawn(process.execPath, ['--import', loader, script, ...args], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
}

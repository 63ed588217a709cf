import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { reservedPort } from '../redis/servers/port.ts';
import { redisServer } from '../redis/servers/redis-server.ts';
import { bury, forget } from '../redis/servers/undertaker.ts';
import { until } from '../redis/servers/until.ts';
import { descriptor, envoyOf } from '../service/envoy.ts';
import { Program } from './program.ts';

const MAIN = fileURLToPath(new URL('../../tools/cli/dist/main.js', import.meta.url));

/** A folder with the files of a service, until the test ends. */
function filesIn(numbers: string, onFailure = 'local'): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'limits.yaml'), `PerClient: { ${numbers}, period: 1h, idFormat: clientNetwork }\n`);
  const tables = [
    'http: { api: { limits: [{ limit: PerClient, id: address }] } }',
    'envoy: { ingress: { rules: [{ descriptor: [remote_address], limit: PerClient }] } }',
    `onFailure: { PerClient: ${onFailure} }`,
  ];
  writeFileSync(join(folder, 'tables.yaml'), `${tables.join('\n')}\n`);
  return folder;
}

const TWO_PROCESSES = ['--processes', '2'];

/** A service on a Redis, that listens. */
async function serviceOn(redisUrl: string, folder: string, more: readonly string[]) {
  const [port, metrics] = [await reservedPort(), await reservedPort()];
  const addresses = ['--http', `127.0.0.1:${port}`, '--metrics', `127.0.0.1:${metrics}`];
  const options = [...addresses, '--deadline', '1000', '--redis', redisUrl, ...more];
  const args = [MAIN, 'serve', 'limits.yaml', 'tables.yaml', ...options];
  const program = await Program.start(process.execPath, args, port, folder);
  onTestFinished(async () => void (await program.stop('SIGKILL')));
  // The port is open when the first process listens; the program says so when all do.
  await until('all processes listen', () => program.output.includes('metrics listens on'));
  const ask = (client?: string): Promise<number> => askAt(port, client);
  const counted = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  return { program, ask, counted };
}

async function askAt(port: number, client = '203.0.113.7'): Promise<number> {
  const url = `http://127.0.0.1:${port}/check/api`;
  return (await fetch(url, { headers: { 'X-Forwarded-For': client, Connection: 'close' } })).status;
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
  const folder = filesIn('count: 30');
  const services = [
    await serviceOn(redis.url, folder, TWO_PROCESSES),
    await serviceOn(redis.url, folder, TWO_PROCESSES),
  ];
  const statuses = await Promise.all(Array.from({ length: 60 }, (_, i) => services[i % 2]!.ask()));
  expect(statuses.filter((status) => status === 200)).toHaveLength(30);
  expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  const total = (text: string): number =>
    [...text.matchAll(/^sluice_serve_answers_total\{.*\} (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
  expect(await Promise.all(services.map(async ({ counted }) => total(await counted())))).toEqual([30, 30]);
});

test('no counter of a service falls when a process is killed, or does not answer in time', async () => {
  const redis = await redisServer();
  const { program, ask, counted } = await serviceOn(redis.url, filesIn('count: 1000'), TWO_PROCESSES);
  const decisions = async (): Promise<number> =>
    [...(await counted()).matchAll(/^sluice_decisions_total\{.*\} (\d+)$/gm)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
  const askAll = async (): Promise<void> => void (await Promise.all(Array.from({ length: 40 }, () => ask())));
  await askAll();
  // A busy machine may not answer the first look in time.
  await until('all are counted', async () => (await decisions()) === 40);
  const [first, second] = workersOf(program);
  process.kill(first!, 'SIGSTOP');
  onTestFinished(() => kill(first!));
  expect(await decisions()).toBe(40);
  // One look at the workers decides: between two, one may end.
  const areTwoWithout = (pid: number) => (): boolean => {
    const now = workersOf(program);
    return now.length === 2 && !now.includes(pid);
  };
  kill(first!);
  await until('it is replaced', areTwoWithout(first!));
  expect(await decisions()).toBe(40);
  kill(second!);
  await until('it is replaced', areTwoWithout(second!));
  await until('it answers', async () => (await ask().catch(() => 0)) === 200);
  expect(await decisions()).toBeGreaterThan(40);
});

test('one of the processes answers an operator, on the store of all, also after another has ended', async () => {
  const redis = await redisServer();
  const socket = join(filesIn('count: 1'), 'metrics.sock');
  const options = [...TWO_PROCESSES, '--metrics', `unix:${socket}`, '--operate'];
  const { program, ask } = await serviceOn(redis.url, filesIn('count: 30'), options);
  const operated = (...words: string[]) =>
    execFileSync(process.execPath, [MAIN, ...words, '--store', `serve:unix:${socket}`, 'PerClient', '203.0.113.7'], {
      stdio: 'pipe',
    });
  operated('charge', '--cost', '30');
  // Each of the processes may answer.
  expect(await Promise.all(Array.from({ length: 8 }, () => ask()))).toEqual(Array.from({ length: 8 }, () => 429));
  const [first] = workersOf(program);
  kill(first!);
  await until('the program knows that it has ended', () => program.output.includes('another one replaces it'));
  operated('refund', '--cost', '2', '--log', '--by', 'ann');
  const log = execFileSync(process.execPath, [MAIN, 'log', '--redis', redis.url]);
  expect(String(log)).toMatch(/^\S+ ann: refund PerClient 203\.0\.113\.7, 0 → 2\n$/);
  await until('it answers', async () => (await ask().catch(() => 0)) === 200);
  expect(String(operated('peek'))).toMatch(/^PerClient 203\.0\.113\.7: [01] of 30 tokens left/);
  expect(program.output).toContain('an operator called refund for PerClient');
  expect(program.output).not.toContain('203.0');
});

test('a block by one service holds in all processes of two, also after one was killed, until the other ends it', async () => {
  const redis = await redisServer();
  const folder = filesIn('count: 1000000');
  const start = async (name: string, more: readonly string[] = []) => {
    const socket = join(folder, name);
    const served = await serviceOn(redis.url, folder, ['--metrics', `unix:${socket}`, '--operate', ...more]);
    const operated = (command: string, ...words: string[]) =>
      String(execFileSync(process.execPath, [MAIN, command, '--store', `serve:unix:${socket}`, ...words]));
    // Each of the processes may answer.
    const all = (status: number) => async () => {
      const statuses = await Promise.all(Array.from({ length: 8 }, () => served.ask()));
      return statuses.every((each) => each === status);
    };
    return { ...served, operated, all };
  };
  const [first, second] = [await start('a.sock', TWO_PROCESSES), await start('b.sock')];
  const named = ['PerClient', '203.0.113.7'];
  first.operated('block', ...named, '--for', '1h', '--reason', 'ticket 4711', '--by', 'mia');
  await until('all know it', async () => (await first.all(403)()) && (await second.all(403)()));
  await second.program.stop('SIGKILL');
  const next = await start('c.sock');
  expect(await next.ask()).toBe(403);
  expect(next.operated('blocked')).toMatch(/^PerClient 203\.0\.113\.7: blocked until .* by mia: ticket 4711\n$/);
  next.operated('unblock', ...named);
  expect(await next.ask()).toBe(200);
  const beganMs = performance.now();
  await until('all let it in', first.all(200));
  // A second, and what a busy machine takes more.
  expect(performance.now() - beganMs).toBeLessThan(5000);
});

test('port 0 is one port for all processes, which the program names, and names again if it is chosen anew', async () => {
  const redis = await redisServer();
  const metrics = await reservedPort();
  const addresses = ['--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--metrics', `127.0.0.1:${metrics}`];
  const args = [MAIN, 'serve', 'limits.yaml', 'tables.yaml', ...addresses, '--redis', redis.url, ...TWO_PROCESSES];
  const program = await Program.start(process.execPath, args, metrics, filesIn('count: 1000'));
  onTestFinished(async () => void (await program.stop('SIGKILL')));
  const portOf = (name: string): number =>
    Number([...program.output.matchAll(new RegExp(`${name} listens on 127\\.0\\.0\\.1:(\\d+)`, 'g'))].at(-1)?.[1]);
  await until('it says where it listens', () => program.output.includes('metrics listens on'));
  const [http, grpc] = [portOf('http'), portOf('grpc')];
  expect(new Set([0, http, grpc, metrics]).size).toBe(4);
  const byBoth = async (): Promise<unknown> => {
    const client = descriptor({ remote_address: '203.0.113.7' });
    const { overall_code } = await envoyOf(portOf('grpc')).ask({ domain: 'ingress', descriptors: [client] });
    return [overall_code, ...(await Promise.all([1, 2, 3, 4].map(() => askAt(portOf('http')))))];
  };
  expect(await byBoth()).toEqual(['OK', 200, 200, 200, 200]);

  const replaced = (before: readonly number[]) => () => {
    const now = workersOf(program);
    return now.length === 2 && !before.some((pid) => now.includes(pid));
  };
  const [first] = workersOf(program);
  process.kill(first!, 'SIGKILL');
  await until('it is replaced', replaced([first!]));
  expect([portOf('http'), portOf('grpc'), ...((await byBoth()) as [])]).toEqual([http, grpc, 'OK', 200, 200, 200, 200]);

  const all = workersOf(program);
  for (const pid of all) process.kill(pid, 'SIGKILL');
  await until('it says where it listens now', () => program.output.includes('port 0 was chosen anew'));
  await until('all are replaced', replaced(all));
  expect(portOf('http')).not.toBe(http);
  expect(await byBoth()).toEqual(['OK', 200, 200, 200, 200]);
});

test('a process that is killed is replaced, and SIGTERM under load loses no request that was accepted', async () => {
  const redis = await redisServer();
  const { program, ask } = await serviceOn(redis.url, filesIn('count: 1000000'), TWO_PROCESSES);
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

test('two services with --leases exceed a limit by no more than its overshoot, and ask Redis for few requests', async () => {
  const redis = await redisServer();
  const folder = filesIn('count: 400, overshoot: 0.5');
  const leases = ['--leases', '--gateways', '2'];
  const services = [await serviceOn(redis.url, folder, leases), await serviceOn(redis.url, folder, leases)];
  const statuses: number[] = [];
  for (let i = 0; i < 200; i++) {
    // oxlint-disable-next-line no-await-in-loop -- without leases each of these is a call
    statuses.push(await services[i % 2]!.ask());
  }
  expect((await redis.commandCalls()).get('evalsha')).toBeLessThan(200);
  for (let i = 0; i < 75; i++) {
    // oxlint-disable-next-line no-await-in-loop -- a few at once
    statuses.push(...(await Promise.all(Array.from({ length: 8 }, (_, n) => services[n % 2]!.ask()))));
  }
  const allowed = statuses.filter((status) => status === 200).length;
  expect(allowed).toBeGreaterThanOrEqual(400);
  expect(allowed).toBeLessThanOrEqual(600);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
});

test.each([
  ['closed', 503],
  ['open', 200],
])(
  'without Redis, a limit that is %s is answered by %d, and decided again when Redis is back',
  async (policy, status) => {
    const redis = await redisServer();
    const { ask } = await serviceOn(redis.url, filesIn('count: 1', policy), []);
    expect(await ask()).toBe(200);
    const deniedMs = performance.now();
    expect(await ask()).toBe(429);
    await redis.kill();
    const again = await ask();
    // A denial is remembered for a second, which may be over on a busy machine.
    expect(performance.now() < deniedMs + 1000 ? [429] : [429, status]).toContain(again);
    expect([await ask('198.51.100.9'), await ask('198.51.100.9')]).toEqual([status, status]);
    await redis.start();
    await until('limits hold again', async () => (await ask('192.0.2.1')) === 429);
  },
);

test.each([
  ["process.kill(process.pid, 'SIGKILL')", 'A process was killed (SIGKILL) before it could answer'],
  ['process.exit(3)', 'A process ended (code 3) before it could answer. The reason is above.'],
])('if a process does %s before all answer, the service ends and says why', async (does, message) => {
  const folder = filesIn('count: 5');
  // Runs before the program of each process.
  const before = `import cluster from 'node:cluster'; if (cluster.worker?.id === 2) ${does};`;
  const env = { ...process.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(before)}` };
  const options = ['--http', '127.0.0.1:0', '--processes', '2', '--redis', 'redis://127.0.0.1:1'];
  const service = spawn(process.execPath, [MAIN, 'serve', 'limits.yaml', 'tables.yaml', ...options], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  bury(service.pid!);
  let errors = '';
  service.stderr.on('data', (chunk) => (errors += String(chunk)));
  const [code] = (await once(service, 'close')) as [number];
  forget(service.pid!);
  expect({ code, errors }).toEqual({ code: 2, errors: expect.stringContaining(message) as string });
});

/** Ends a process, also one that was stopped. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function codeOf({ cause }: Error): unknown {
  return (cause as { readonly code?: unknown } | undefined)?.code;
}

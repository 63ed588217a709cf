import { accountId, createLimiter } from '@sluice/core';
import { hostStore } from '@sluice/host';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/redis/servers/until.ts';
import { blockedByOperator, SHARED_BLOCK } from './blocked-by-operator.ts';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = 'Orders: { count: 300, period: 3h, idFormat: accountId }';

function newSocket(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-operate-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'app.sock');
}

function production(socket: string) {
  const store = hostStore({ socket, log: false });
  return createLimiter({ limits: { Orders: { key: accountId(), count: 300, period: '3h' } }, store, log: false });
}

test('peek, charge, refund and reset ask the process that serves a socket', async () => {
  const socket = newSocket();
  const limiter = production(socket);
  await limiter.ready();
  await limiter.spend([{ limit: 'Orders', id: 'alice', cost: 299 }]);
  const [limits = ''] = written(LIMITS);
  const on = (command: string, ...rest: string[]) =>
    runJson([command, '--store', `host:${socket}`, limits, 'Orders', 'alice', ...rest]);
  expect(await on('peek')).toMatchObject({ remaining: 1 });
  expect(await on('charge')).toMatchObject({ charged: 1, bucket: { remaining: 0 } });
  expect(await on('refund', '--cost', '5')).toMatchObject({ bucket: { remaining: 5 } });
  expect(await on('reset', '--yes')).toMatchObject({ before: 5, bucket: { remaining: 300 } });
  await limiter.close({ store: true });
});

test('block, blocked, peek and unblock reach all processes of a socket', async () => {
  const socket = newSocket();
  const limiter = production(socket);
  await limiter.ready();
  const on = (...words: string[]) => runJson([...words, '--store', `host:${socket}`]);
  const made = await on('block', 'Orders', 'alice', '--for', '2h', '--reason', 'ticket 4711', '--by', 'mia');
  const isBlocked = async (): Promise<boolean> => (await limiter.spend([{ limit: 'Orders', id: 'alice' }])).blocked;
  await until('the server knows it', isBlocked);
  expect(await on('blocked')).toEqual({ blocks: [made] });
  const [limits = ''] = written(LIMITS);
  expect(await on('peek', limits, 'Orders', 'alice')).toMatchObject({ state: 'blocked', block: made });
  expect(await on('unblock', 'Orders', 'alice')).toMatchObject({ ended: { reason: 'ticket 4711' } });
  await until('the server knows it', async () => !(await isBlocked()));
  await limiter.close({ store: true });
});

test('a service on a socket blocks an id for all processes of the socket', async () => {
  const socket = newSocket();
  const limiter = production(socket);
  await limiter.ready();
  const answers = await blockedByOperator(hostStore({ socket, log: false }), limiter);
  expect(answers).toMatchObject(SHARED_BLOCK);
  await limiter.close({ store: true });
});

test('a socket that no process serves is an error, and what was handed over stays', async () => {
  const socket = newSocket();
  const limiter = production(socket);
  await limiter.spend([{ limit: 'Orders', id: 'alice', cost: 299 }]);
  await limiter.close({ store: true });
  const [limits = ''] = written(LIMITS);
  const ran = await run(['peek', '--store', `host:${socket}`, limits, 'Orders', 'alice']);
  expect(ran).toMatchObject({
    code: 2,
    err: expect.stringContaining(`No process serves the buckets of ${socket}.`) as string,
  });
  const next = production(socket);
  expect(await next.check([{ limit: 'Orders', id: 'alice' }])).toMatchObject({ remaining: 1 });
  await next.close({ store: true });
});

test('sluice top asks the process that serves for the ids of a file, because it has only their hashes', async () => {
  const socket = newSocket();
  const limiter = production(socket);
  await limiter.charge([
    { limit: 'Orders', id: 'alice', cost: 299 },
    { limit: 'Orders', id: 'bob', cost: 200 },
    { limit: 'Orders', id: 'carol', cost: 250 },
  ]);
  const [limits = '', ids = ''] = written(LIMITS, 'bob\n  alice\r\n\nbob\n');
  const options = { env: { SLUICE_STORE: `host:${socket}` } };
  const expected = {
    complete: true,
    keys: 2,
    buckets: 2,
    top: [
      { id: 'alice', remaining: 1 },
      { id: 'bob', remaining: 100 },
    ],
  };
  expect(await runJson(['top', '--ids', ids, limits], options)).toMatchObject(expected);
  expect(await runJson(['top', '--ids', '-', limits], { ...options, stdin: 'alice\nbob\n' })).toMatchObject(expected);
  expect(await run(['top', limits], options)).toMatchObject({
    code: 2,
    err: expect.stringContaining('so it cannot list its buckets. Name the ids in a file') as string,
  });
  const missing = await run(['top', '--ids', 'missing.txt', limits], options);
  expect(missing).toMatchObject({ code: 2, err: expect.stringContaining("missing.txt can't be read") as string });
  await limiter.close({ store: true });
});

test.each([
  [['--store', 'http://127.0.0.1:1'], '`--store` must be a URL that begins with redis://'],
  [['--store', 'host:app.sock'], '`--store host:` must be followed by an absolute path'],
  [['--store', 'host:/tmp/absent.sock.1'], 'correct the path, which has no number at its end, in `--store`'],
  [['--store', 'postgres://x', '--redis', 'redis://x'], 'Only one of `--store` and `--redis`'],
])('%j is refused with a remedy', async (options, message) => {
  const [limits = ''] = written(LIMITS);
  const ran = await run(['peek', ...options, limits, 'Orders', 'alice']);
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining(message) as string });
});

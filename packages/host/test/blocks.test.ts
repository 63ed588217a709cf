import { accountId, createLimiter, type Limiter } from '@sluice/core';
import { hostStore } from '@sluice/host';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { folder } from '../../../test/host/socket-path.ts';
import { HostProcess } from '../../../test/host/host-process.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { BlocksFiles } from '../src/election/blocks-files.ts';

const entry = { limit: 'Orders', id: '7' } as const;
const WHY = { forMs: 3_600_000, reason: 'ticket 4711', by: 'mia' };

let paths: ReturnType<typeof folder>;
let socket: string;
beforeEach(() => {
  paths = folder();
  socket = paths.newSocket();
});
afterEach(() => paths.delete());

function limiterOn(log: (line: string) => void = () => undefined): Limiter {
  const store = hostStore({ socket, log: false });
  const limits = { Orders: { key: accountId(), count: 1000, period: '1h' } };
  const limiter = createLimiter({ limits, store, failure: { deadlineMs: 5000 }, log });
  onTestFinished(() => limiter.close({ store: true }));
  return limiter;
}

const isBlocked = async (limiter: Limiter): Promise<boolean> => (await limiter.spend([entry])).blocked;
const blockFiles = (): readonly string[] => paths.files().filter((file) => file.includes('blocks'));

test('blocks take effect in all processes within a second, and when the process that serves is killed', async () => {
  const server = new HostProcess();
  onTestFinished(() => server.kill());
  await server.open(socket);
  const [one, other] = [limiterOn(), limiterOn()];
  await Promise.all([one.ready(), other.ready()]);
  expect(await isBlocked(other)).toBe(false);
  await one.block([{ ...entry, ...WHY }]);
  expect(await isBlocked(one)).toBe(true);
  await until('the other store knows it', () => isBlocked(other));
  await server.kill();
  expect(await isBlocked(other)).toBe(true);
  const again = limiterOn();
  await again.ready();
  expect(await isBlocked(again)).toBe(true);
  expect(await again.unblock([entry])).toMatchObject([{ reason: 'ticket 4711' }]);
  await until('its end is known', async () => !(await isBlocked(other)));
});

test('blocks outlive all processes, in one file of this user alone', async () => {
  const first = limiterOn();
  for (let i = 0; i < 5; i++) {
    // oxlint-disable-next-line no-await-in-loop
    await first.block([{ ...entry, id: String(i), ...WHY }]);
  }
  await first.close({ store: true });
  expect(blockFiles()).toEqual([`${socket}.blocks.5`]);
  const later = limiterOn();
  expect(await later.blocked()).toHaveLength(5);
  await later.unblock(Array.from({ length: 5 }, (_, i) => ({ ...entry, id: String(i) })));
  expect(readFileSync(`${socket}.blocks.6`, 'utf8')).toBe('');
});

test('of several processes at the same time each takes effect', async () => {
  const files = Array.from({ length: 8 }, () => new BlocksFiles(socket));
  const revision = (n: number): string => String(n).padStart(16, '0');
  // All have read the same: one of them may write.
  expect((await Promise.all(files.map((file, i) => file.write('', revision(i))))).filter(Boolean)).toHaveLength(1);
  const limiters = Array.from({ length: 4 }, () => limiterOn());
  rmSync(blockFiles()[0]!);
  await Promise.all(limiters.map((limiter, i) => limiter.block([{ ...entry, id: String(i), ...WHY }])));
  expect(await limiters[0]!.blocked()).toHaveLength(4);
  expect(blockFiles()).toHaveLength(1);
});

test('a process that was late, and finds a higher number, has not written', async () => {
  const file = new BlocksFiles(socket);
  writeFileSync(`${socket}.blocks.1`, '1111111111111111 old');
  // It has looked for the newest number when others go on.
  const late = file.write('1111111111111111', '2222222222222222 late');
  writeFileSync(`${socket}.blocks.3`, '3333333333333333 new');
  expect(await late).toBe(false);
  expect(existsSync(`${socket}.blocks.2`)).toBe(false);
  expect(await file.write('1111111111111111', '4444444444444444 mine')).toBe(false);
  expect(await file.read('')).toBe('3333333333333333 new');
  expect(await file.read('3333333333333333')).toBe(undefined);
  expect(await file.write('3333333333333333', '4444444444444444 mine')).toBe(true);
  expect(blockFiles()).toEqual([`${socket}.blocks.4`]);
});

test.each([
  ['a link', (path: string) => symlinkSync('/etc/hostname', path), 'ERR_STORE_UNAVAILABLE'],
  ['a folder', (path: string) => mkdirSync(path), 'ERR_STORE_ANSWER'],
  ['something else', (path: string) => writeFileSync(path, 'no list of blocks'), 'ERR_STORE_ANSWER'],
])('%s in the place of the file takes no effect, and is an error of limiter.block', async (_, put, code) => {
  put(`${socket}.blocks.9`);
  const limiter = limiterOn();
  expect(await isBlocked(limiter)).toBe(false);
  await expect(limiter.block([{ ...entry, ...WHY }])).rejects.toMatchObject({ code });
  expect(existsSync(`${socket}.blocks.10`)).toBe(false);
});

test('a folder that can not be written is an error of limiter.block', async () => {
  const missing = new BlocksFiles(`${socket}/none/app.sock`);
  await expect(missing.write('', 'x')).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
});

test('a store that is closed makes no block', async () => {
  const store = hostStore({ socket, log: false });
  await store.close();
  await expect(Promise.resolve(store.blocks?.list(1000))).rejects.toMatchObject({ code: 'ERR_CLOSED' });
});

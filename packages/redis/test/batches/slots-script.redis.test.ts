import type { StoreTransaction } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { decideScript } from '../../src/batches/script-batch.ts';
import { hold, hour, hourly, inFlight, isAllowed, order, owed, SLOTS } from '../support/orders.ts';
import { readyStore } from '../support/ready-store.ts';
import { added, emptyCall } from '../support/script-call.ts';
import { callsOf } from '@sluice/core/testing';

const EPOCH_MS = Date.UTC(2026, 0, 1);
const EXPIRIES = 4096;
const server = await redisServer();
const store = await readyStore({ url: server.url, prefix: 'f:', rememberDenialsMs: 0 });
const key = (id: string): string => `f:InFlight:${id}@slots`;

/** The members of a bucket: the time of each in milliseconds of Unix time, and the seconds of its expiry. */
async function membersOf(id: string): Promise<Record<string, [ms: number, expirySeconds: number]>> {
  const scores = await server.call<[member: string, score: number][]>('ZRANGE', key(id), 0, -1, 'WITHSCORES');
  return Object.fromEntries(
    scores.map(([member, score]) => [member, [Math.floor(score / EXPIRIES) + EPOCH_MS, score % EXPIRIES]]),
  );
}

const COMMANDS = [
  'evalsha',
  'zcard',
  'zscore',
  'zcount',
  'zrange',
  'zremrangebyrank',
  'zadd',
  'zrem',
  'pexpire',
  'del',
];

/** How often the commands of scripts ran while something was done, if they did. */
async function commandsOf(done: () => Promise<unknown>): Promise<Record<string, number>> {
  await server.call('CONFIG', 'RESETSTAT');
  await done();
  const calls = await server.commandCalls();
  return Object.fromEntries(COMMANDS.flatMap((name) => (calls.has(name) ? [[name, calls.get(name) ?? 0]] : [])));
}

const heldIn = async (...ids: string[]): Promise<readonly number[]> =>
  (await callsOf(store).check(ids.map((id) => inFlight(id, 'look')))).levelsTicks;

/** Writes members that expire, or a clock that was written, so many milliseconds from now. */
async function writeMembers(id: string, expirySeconds: number, members: Record<string, number>): Promise<void> {
  const { nowTicks } = await callsOf(store).check([order('now')]);
  const nowMs = Math.floor(nowTicks / 16_000);
  const pairs = Object.entries(members).flatMap(([member, ms]) => [(nowMs + ms) * EXPIRIES + expirySeconds, member]);
  await server.call('ZADD', key(id), ...pairs);
}

describe('what is kept of a bucket of slots', () => {
  test('is when each slot expires, and its expiry, and the time of the last write', async () => {
    const { nowTicks } = await callsOf(store).spend([inFlight('kept', 'a', { count: 2, expiryMs: 1500 })]);
    const nowMs = EPOCH_MS + Math.floor(nowTicks / 16_000);
    expect(await membersOf('kept')).toEqual({ clock: [nowMs, 2], 'a:1': [nowMs + 1500, 2], 'a:2': [nowMs + 1500, 2] });
  });

  test('lives a second longer than the longest expiry', async () => {
    await callsOf(store).spend([inFlight('lives', 'a', { expiryMs: 50_000 })]);
    await callsOf(store).spend([inFlight('lives', 'b', { expiryMs: 2000 })]);
    await callsOf(store).renew([hold('lives', 'b', { expiryMs: 3000 })]);
    const leftMs = await server.call<number>('PTTL', key('lives'));
    expect(leftMs).toBeGreaterThan(50_000);
    expect(leftMs).toBeLessThanOrEqual(51_000);
  });

  test('lives no longer than new slots need when those of a longer expiry are gone', async () => {
    await callsOf(store).spend([inFlight('shorter', 'a', { expiryMs: 2000 })]);
    await writeMembers('shorter', 3600, { 'dead:1': -1, clock: -1 });
    await callsOf(store).release([hold('shorter', 'a')]);
    await callsOf(store).spend([inFlight('shorter', 'b', { expiryMs: 2000 })]);
    expect(await server.call('PTTL', key('shorter'))).toBeLessThanOrEqual(3000);
  });

  test('is deleted with the release of the last slot, and by a reset', async () => {
    await callsOf(store).spend([inFlight('back', 'a', { count: 2 }), inFlight('reset', 'a')]);
    await callsOf(store).release([hold('back', 'a', { count: 1 })]);
    expect(await server.call('EXISTS', key('back'))).toBe(1);
    await callsOf(store).release([hold('back', 'a', { first: 2 })]);
    await callsOf(store).reset([{ limit: 'InFlight', id: 'reset', slots: true }]);
    expect(await server.call('EXISTS', key('back'), key('reset'))).toBe(0);
  });

  test('contains no expired slots after slots were taken', async () => {
    await writeMembers('expired', 10, { 'a:1': -1, 'b:1': 0, 'c:1': 5000, clock: -5000 });
    expect(await heldIn('expired')).toEqual([1]);
    expect(Object.keys(await membersOf('expired'))).toHaveLength(4);
    await callsOf(store).spend([inFlight('expired', 'd')]);
    expect(Object.keys(await membersOf('expired')).toSorted()).toEqual(['c:1', 'clock', 'd:1']);
  });

  test('loses at most a thousand expired slots more than are taken at once', async () => {
    const dead = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`dead:${i}`, -1]));
    await writeMembers('many-expired', 10, { ...dead, clock: -5000 });
    for (const left of [1502, 502, 4]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await callsOf(store).spend([inFlight('many-expired', `a${left}`)]);
      // oxlint-disable-next-line no-await-in-loop
      expect(await server.call('ZCARD', key('many-expired'))).toBe(left);
    }
    expect(await heldIn('many-expired')).toEqual([SLOTS]);
  });
});

describe('what a call does on the server', () => {
  test('is little for the first slot of a bucket, and for its release', async () => {
    const taken = await commandsOf(() => callsOf(store).spend([inFlight('first', 'a')]));
    expect(taken).toEqual({ evalsha: 1, zcard: 1, zadd: 1, pexpire: 1 });
    const released = await commandsOf(() => callsOf(store).release([hold('first', 'a')]));
    expect(released).toEqual({ evalsha: 1, zcard: 2, zrem: 1, del: 1 });
  });

  test('is a look and one write for another slot, and for its release', async () => {
    await callsOf(store).spend([inFlight('next', 'a')]);
    const taken = await commandsOf(() => callsOf(store).spend([inFlight('next', 'b')]));
    expect(taken).toEqual({ evalsha: 1, zcard: 1, zscore: 1, zcount: 1, zadd: 1, pexpire: 1 });
    const released = await commandsOf(() => callsOf(store).release([hold('next', 'b')]));
    expect(released).toEqual({ evalsha: 1, zcard: 2, zrem: 1 });
  });

  test('is no write when a batch is denied or only looks, and when nothing is released', async () => {
    await callsOf(store).spend([inFlight('full', 'a', { count: SLOTS }), order('empty', 5)]);
    const calls = await commandsOf(async () => {
      await callsOf(store).spend([inFlight('full', 'b')]);
      await callsOf(store).spend([inFlight('other', 'b'), order('empty')]);
      await callsOf(store).spend([
        inFlight('other', 'b', { mode: 'check-only' }),
        inFlight('other2', 'b', { count: 0 }),
      ]);
      await callsOf(store).check([inFlight('full', 'b')]);
      await callsOf(store).release([hold('unknown', 'b')]);
    });
    expect(calls).toEqual({ evalsha: 5, zcard: 6, zscore: 2, zcount: 2 });
  });

  test('is one look for a bucket of many batches', async () => {
    const many = () =>
      Promise.all(Array.from({ length: SLOTS + 2 }, (_, i) => callsOf(store).spend([inFlight('hot', `${i}`)])));
    const calls = await commandsOf(many);
    expect(calls).toEqual({ evalsha: 1, zcard: 1, zadd: SLOTS, pexpire: 1 });
  });

  test('is one call for all kinds of one turn, each of which sees the changes of those before it', async () => {
    await callsOf(store).spend([inFlight('turn', 'a', { count: 2 })]);
    const readings: (readonly number[])[] = [];
    const look = () =>
      callsOf(store)
        .check([inFlight('turn', 'look')])
        .then(({ levelsTicks }) => readings.push(levelsTicks));
    const calls = await commandsOf(() =>
      Promise.all([
        callsOf(store).spend([inFlight('turn', 'b'), order('turn')]),
        look(),
        callsOf(store).release([hold('turn', 'a', { first: 2 })]),
        look(),
        callsOf(store).renew([hold('turn', 'lost', { count: 4 })]),
        look(),
        callsOf(store).reset([{ limit: 'InFlight', id: 'turn', slots: true }]),
        look(),
        callsOf(store).spendFirst([[inFlight('turn', 'c', { count: 4 })], [inFlight('turn', 'd', { count: 2 })]]),
        look(),
        callsOf(store).release([hold('turn', 'd', { count: 2 })]),
        look(),
        callsOf(store).spend([inFlight('turn', 'e')]),
      ]),
    );
    expect(calls['evalsha']).toBe(1);
    expect(readings).toEqual([[3], [2], [6], [0], [2], [0]]);
    expect(Object.keys(await membersOf('turn')).toSorted()).toEqual(['clock', 'e:1']);
    expect(await server.call('PTTL', key('turn'))).toBeGreaterThan(60_000);
  });

  test('leaves the time of the write after slots were released or expired in the same call', async () => {
    await writeMembers('written', 10, { 'dead:1': -1, 'dead:2': -1, clock: -5000 });
    await Promise.all([callsOf(store).renew([hold('written', 'a')]), callsOf(store).spend([inFlight('written', 'b')])]);
    expect(Object.keys(await membersOf('written')).toSorted()).toEqual(['a:1', 'b:1', 'clock']);
    await Promise.all([
      callsOf(store).release([hold('written', 'a'), hold('written', 'b')]),
      callsOf(store).renew([hold('written', 'c')]),
      callsOf(store).release([hold('written', 'c')]),
      callsOf(store).spend([inFlight('written', 'd')]),
      callsOf(store).release([hold('written', 'd')]),
      callsOf(store).renew([hold('written', 'e')]),
    ]);
    expect(Object.keys(await membersOf('written')).toSorted()).toEqual(['clock', 'e:1']);
    expect(await server.call('PTTL', key('written'))).toBeGreaterThan(60_000);
  });

  test('rejects only the batch with stale periods, beside slots', async () => {
    const stale = hourly('stale', 1, hour(2));
    const calls = [[inFlight('beside-stale', 'a')], [stale], [inFlight('beside-stale', 'b'), stale]];
    const outcomes = await Promise.allSettled(calls.map((batch) => callsOf(store).spend(batch)));
    expect(outcomes[0]).toMatchObject({ status: 'fulfilled', value: { levelsTicks: [0] } });
    for (const outcome of outcomes.slice(1)) expect(outcome).toMatchObject({ reason: { code: 'ERR_STORE_PERIOD' } });
    expect(await heldIn('beside-stale')).toEqual([1]);
  });

  test('is several calls for the release and renewal of many holds', async () => {
    const holds = Array.from({ length: 70 }, (_, i) => hold('split', `h${i}`));
    expect(await commandsOf(() => callsOf(store).renew(holds))).toMatchObject({ evalsha: 3 });
    expect(await heldIn('split')).toEqual([70]);
    expect(await commandsOf(() => callsOf(store).release(holds))).toMatchObject({ evalsha: 3, del: 1 });
  });

  test('takes, renews and releases more slots than one command can name', async () => {
    const count = 12_345;
    await callsOf(store).spend([inFlight('large', 'a', { count, fit: 20_000 })]);
    expect(await heldIn('large')).toEqual([count]);
    await callsOf(store).renew([hold('large', 'a', { count: count + 5 })]);
    expect(await heldIn('large')).toEqual([count + 5]);
    await callsOf(store).release([hold('large', 'a', { first: 5, count: count + 1 })]);
    expect(Object.keys(await membersOf('large')).toSorted()).toEqual(['a:1', 'a:2', 'a:3', 'a:4', 'clock']);
  });
});

/** The arguments of the script for batches in one call. */
function callOf(...batches: readonly (readonly StoreTransaction[])[]) {
  const call = emptyCall();
  for (const batch of batches) {
    const keys = batch.map(({ limit, id, slots }) => `f:${limit}:${id}${slots ? '@slots' : ''}`);
    void added(call, { kind: 'spend', batch, keys });
  }
  return call;
}

describe('the arguments of the script', () => {
  test('contain one copy of the numbers, and the holder of each transaction', () => {
    const many = Array.from({ length: 16 }, (_, i) => [order(`${i}`), inFlight(`${i}`, `h${i}`)]);
    const { args } = callOf(...many);
    expect(args).toHaveLength(1 + 2 + 2 * 16 + 2 + 4);
    expect(args.slice(3, 7)).toEqual(['', 'h0', '', 'h1']);
  });

  test('of all commands are text', async () => {
    const watched = `local real = redis
local function watched(call)
  return function(...)
    for _, arg in ipairs({ ... }) do assert(type(arg) == 'string', 'not text: ' .. tostring(arg)) end
    return call(...)
  end
end
local redis = { call = watched(real.call), pcall = watched(real.pcall) }
${decideScript.source}`;
    await writeMembers('text', 10, { 'expired:1': -1, 'ahead:1': 90_000, clock: 80_000 });
    const { keys, args } = callOf([inFlight('text', 'a')], [inFlight('text', 'b')]);
    const reply = await server.call('EVAL', watched, keys.length, ...keys, Number.MAX_SAFE_INTEGER, ...args);
    expect(reply).toEqual([1, expect.any(Number), 1, 2]);
  });
});

describe('after the clock of the server ran ahead and came back', () => {
  const DAY_MS = 86_400_000;

  test.each([
    ['a check', () => callsOf(store).check([inFlight('ahead by a check', 'x')])],
    ['a spend', () => callsOf(store).spend([inFlight('ahead by a spend', 'x')])],
    ['a denied spend', () => callsOf(store).spend([inFlight('ahead by a denied spend', 'x', { fit: 2 })])],
    ['a renewal', () => callsOf(store).renew([hold('ahead by a renewal', 'x')])],
  ])('each slot is cut to its own expiry by %s, and the clock is written', async (what, call) => {
    const id = `ahead by ${what}`;
    await server.call('DEL', key(encodeURIComponent(id)));
    const encoded = encodeURIComponent(id);
    await writeMembers(encoded, 10, { 'short:1': DAY_MS + 9000, 'older:1': 5000 });
    await writeMembers(encoded, 60, { 'long:1': DAY_MS - 1000, clock: DAY_MS });
    await server.call('PEXPIRE', key(encoded), DAY_MS);
    await call();
    const members = await membersOf(encoded);
    const leftMs = (member: string) => (members[member]?.[0] ?? NaN) - Date.now();
    expect(leftMs('older:1')).toBeLessThanOrEqual(5000);
    expect(Math.abs(leftMs('short:1') - 10_000)).toBeLessThan(1000);
    expect(Math.abs(leftMs('long:1') - 60_000)).toBeLessThan(1000);
    expect(Math.abs(leftMs('clock'))).toBeLessThan(1000);
    expect(await server.call('PTTL', key(encoded))).toBeLessThanOrEqual(61_000);
    expect(Object.keys(await commandsOf(() => callsOf(store).check([inFlight(id, 'x')])))).not.toContain('zadd');
  });
});

describe('a key that contains no slots', () => {
  const foreign: [what: string, command: string, ...args: string[]][] = [
    ['a bucket of tokens', 'SET', '80000000000000640'],
    ['a list', 'RPUSH', '1'],
    ['a hash', 'HSET', 'field', '1'],
    ['a sorted set of something else', 'ZADD', '1', 'player'],
  ];

  test.each(foreign)('(%s) breaks its own batch, which takes nothing', async (what, command, ...args) => {
    const id = what.replaceAll(' ', '-');
    await server.call(command, key(id), ...args);
    const calls = [
      callsOf(store).spend([inFlight(`${id}-beside`, 'a'), inFlight(id, 'a'), order(id)]),
      callsOf(store).check([inFlight(id, 'a')]),
      callsOf(store).renew([hold(id, 'a')]),
    ];
    const fine = callsOf(store).spend([inFlight(`${id}-fine`, 'a')]);
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'ERR_STORE_BUCKET', message: expect.stringContaining(`'${key(id)}'`) },
      });
    }
    expect((await fine).levelsTicks).toEqual([0]);
    expect(await heldIn(`${id}-beside`, `${id}-fine`)).toEqual([0, 1]);
    expect(owed(await callsOf(store).check([order(id)]))).toEqual([0]);
  });

  test.each(foreign)('(%s) is let go by a reset', async (what, command, ...args) => {
    const id = `reset-${what.replaceAll(' ', '-')}`;
    await server.call(command, key(id), ...args);
    await callsOf(store).reset([{ limit: 'InFlight', id, slots: true }]);
    expect(await heldIn(id)).toEqual([0]);
  });

  test('is not changed by a release', async () => {
    await server.call('ZADD', key('players'), 1, 'player');
    await callsOf(store).release([hold('players', 'a')]);
    expect(await server.call('ZCARD', key('players'))).toBe(1);
  });

  test('does not keep a call from renewing and releasing the slots of other buckets', async () => {
    await server.call('SET', key('text'), 'hello');
    await callsOf(store).spend([inFlight('beside-text', 'a')]);
    const renewed = callsOf(store).renew([hold('text', 'a'), hold('beside-text', 'b')]);
    await expect(renewed).rejects.toMatchObject({ code: 'ERR_STORE_BUCKET' });
    expect(await heldIn('beside-text')).toEqual([2]);
    const released = callsOf(store).release([hold('beside-text', 'a'), hold('text', 'a'), hold('beside-text', 'b')]);
    await expect(released).rejects.toMatchObject({ code: 'ERR_STORE_BUCKET' });
    expect(await heldIn('beside-text')).toEqual([0]);
  });
});

test('a renewal that the server receives after its deadline does not bring back a released slot', async () => {
  await callsOf(store).spend([inFlight('late', 'a')]);
  server.freeze();
  const renewed = callsOf(store).renew([hold('late', 'a')], 50);
  await expect(renewed).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_STORE_(DEADLINE|UNAVAILABLE)$/) });
  const admin = server.call('ZREM', key('late'), 'a:1');
  server.thaw();
  await admin;
  await until('the store answers again', () => heldIn('late').then(Boolean, () => false));
  expect(await heldIn('late')).toEqual([0]);
});

test('a server without memory for a write holds no slot and takes no token', async () => {
  const full = await redisServer();
  const poor = await readyStore({ url: full.url, rememberDenialsMs: 0 });
  await full.config('maxmemory', '1');
  const denied = callsOf(poor).spend([order('a'), inFlight('a', 'h')]);
  await expect(denied).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  expect((await callsOf(poor).check([order('a'), inFlight('a', 'h')])).levelsTicks).toEqual([0, 0]);
});

test('a batch with slots is denied from memory only for its tokens', async () => {
  const remembering = await readyStore({ url: server.url });
  const fromMemory = () => remembering.status().counts.rememberedDenials;
  await callsOf(remembering).spend([order('id', 5), inFlight('id', 'a', { count: SLOTS })]);
  for (const holder of ['b', 'c']) {
    const slots = [inFlight('id', holder)];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(isAllowed(slots, await callsOf(remembering).spend(slots))).toBe(false);
  }
  expect(fromMemory()).toBe(0);
  const both = () => [order('id'), inFlight('id', 'd')];
  const asked = await callsOf(remembering).spend(both());
  const remembered = await callsOf(remembering).spend(both());
  expect(asked.levelsTicks[1]).toBe(SLOTS);
  expect(remembered).toMatchObject({ remembered: true, levelsTicks: [expect.any(Number), 0] });
  expect(fromMemory()).toBe(1);
  await callsOf(remembering).release([hold('id', 'a')]);
  expect(isAllowed(both(), await callsOf(remembering).spend(both()))).toBe(false);
  expect(fromMemory()).toBe(2);
  expect((await callsOf(remembering).spend([inFlight('id', 'f')])).levelsTicks).toEqual([SLOTS - 1]);
  await remembering.close();
});

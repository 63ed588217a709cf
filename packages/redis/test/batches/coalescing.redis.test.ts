import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { BURST, charge, isAllowed, order, owed, read, refund } from '../support/orders.ts';
import { readyStore } from '../support/ready-store.ts';
import { added, emptyCall } from '../support/script-call.ts';
import { callsOf } from '@sluice/core/testing';

const server = await redisServer();
const store = await readyStore({ url: server.url, rememberDenialsMs: 0 });
const ids = (count: number, name: string): string[] => Array.from({ length: count }, (_, i) => `${name}-${i}`);

async function sentCalls(done: () => Promise<unknown>): Promise<number> {
  const before = store.status().counts.calls;
  await done();
  return store.status().counts.calls - before;
}

describe('batches that are sent in one iteration of the event loop', () => {
  test('travel as one call', async () => {
    const asked = () => Promise.all(ids(20, 'turn').map((id) => callsOf(store).spend([order(id)])));
    expect(await sentCalls(asked)).toBe(1);
  });

  test('travel together from all callbacks of the iteration', async () => {
    // Between two callbacks of a turn Node runs all ticks and microtasks, as it does between two sockets with data.
    const fromOneCallback = (id: string) =>
      new Promise((resolve) => {
        setImmediate(() => resolve(callsOf(store).spend([order(id)])));
      });
    expect(await sentCalls(() => Promise.all(ids(20, 'callback').map(fromOneCallback)))).toBe(1);
  });

  test('travel in calls of at most 32 transactions', async () => {
    expect(await sentCalls(() => Promise.all(ids(65, 'many').map((id) => callsOf(store).spend([order(id)]))))).toBe(3);
    const pairs = () => ids(17, 'pair').map((id) => callsOf(store).spend([order(id), order(`${id}-too`)]));
    expect(await sentCalls(() => Promise.all(pairs()))).toBe(2);
  });

  test('are not split, however large', async () => {
    const large = ids(100, 'large').map((id) => order(id));
    const all = () =>
      Promise.all([
        callsOf(store).spend([order('before')]),
        callsOf(store).spend(large),
        callsOf(store).spend([order('after')]),
      ]);
    expect(await sentCalls(all)).toBe(3);
  });

  test('are split when they reset: that is not a decision, and many would block the server', async () => {
    const many = ids(100, 'reset');
    await Promise.all(many.map((id) => callsOf(store).spend([order(id)])));
    expect(await sentCalls(() => callsOf(store).reset(many.map((id) => ({ limit: 'Orders', id }))))).toBe(4);
    expect(owed(await callsOf(store).check(many.map((id) => order(id))))).toEqual(many.map(() => 0));
    await expect(callsOf(store).reset([])).resolves.toMatchObject({ levelsTicks: [] });
  });

  test('each get their own reading', async () => {
    const costs = [1, 2, 3, 4, 5];
    await Promise.all(costs.map((cost) => callsOf(store).spend([order(`own-${cost}`, cost)])));
    const readings = await Promise.all(
      costs.map((cost) => callsOf(store).check([order(`own-${cost}`), order('own-none')])),
    );
    expect(readings.map(owed)).toEqual(costs.map((cost) => [cost, 0]));
  });

  test('are decided in order: each sees what the former ones took, gave back or forgot', async () => {
    const id = 'ordered';
    const readings = await Promise.all([
      callsOf(store).spend([order(id, 5)]),
      callsOf(store).spend([order(id)]),
      callsOf(store).refund([refund(id, 2)]),
      callsOf(store).spend([order(id)]),
      callsOf(store).charge([charge(id, 9)]),
      callsOf(store).check([order(id)]),
      callsOf(store)
        .reset([{ limit: 'Orders', id }])
        .then(() => ({ nowTicks: 0, levelsTicks: [] })),
      callsOf(store).spend([order(id, 5)]),
    ]);
    expect(readings.flatMap(owed)).toEqual([0, 5, 3, 3, 5, 5, 0]);
  });

  test('pass exactly as often as there are tokens', async () => {
    const batch = [order('exact'), order('exact-too')];
    const readings = await Promise.all(Array.from({ length: 40 }, () => callsOf(store).spend(batch)));
    expect(readings.map((reading) => isAllowed(batch, reading))).toEqual(
      Array.from({ length: 40 }, (_, i) => i < BURST),
    );
  });

  test('are all answered when one of them is broken', async () => {
    const own = await readyStore({ url: server.url, prefix: 'own:' });
    await server.call('SET', 'own:Orders:broken', 'hello');
    const outcomes = await Promise.allSettled([
      callsOf(own).spend([order('a')]),
      callsOf(own).spend([order('b'), order('broken')]),
      callsOf(own).spend([order('b', 2)]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(owed(await callsOf(own).check([order('a'), order('b')]))).toEqual([1, 2]);
    await own.close();
  });

  test('keep each the deadline that it was sent with, and an error names that', async () => {
    const paused = await redisServer();
    const own = await readyStore({ url: paused.url });
    paused.freeze();
    const patient = callsOf(own).spend([order('patient')], 10_000);
    await expect(callsOf(own).spend([order('hasty')], 30)).rejects.toMatchObject({
      code: 'ERR_STORE_DEADLINE',
      message: `Redis at 127.0.0.1:${paused.port} did not answer the script decide within 30 ms.`,
    });
    paused.thaw();
    expect(owed(await patient)).toEqual([0]);
    await own.close();
  });
});

test('batches of the same limits are described once, and others in between do not mix with them', async () => {
  const shop = await readyStore({ url: server.url, prefix: 'shapes:', rememberDenialsMs: 0 });
  const request = (id: string, cost = 1) => callsOf(shop).spend([order(id, cost), read(id)]);
  const before = ids(3, 'before').map((id) => request(id));
  const other = [callsOf(shop).check([read('before-0')]), callsOf(shop).spend([order('alone', 2)]), request('dear', 3)];
  const after = ids(3, 'after').map((id) => request(id));
  await Promise.all([...before, ...other, ...after]);
  const all = ['before-0', 'before-2', 'dear', 'after-0', 'after-2'];
  const owes = await Promise.all(all.map((id) => callsOf(shop).check([order(id), read(id)])));
  expect(owes.map(owed)).toEqual([
    [1, 1],
    [1, 1],
    [3, 1],
    [1, 1],
    [1, 1],
  ]);
  expect(owed(await callsOf(shop).check([order('alone')]))).toEqual([2]);
});

test('alternatives travel with other batches in one call, in order, and nothing of them is mixed up', async () => {
  const batches = async (): Promise<void> => {
    const [a, b] = [[order('alt-a', 2)], [order('alt-b', 2)]];
    const readings = await Promise.all([
      callsOf(store).spend([order('alt-a', 2)]),
      callsOf(store).spendFirst([a, b]),
      callsOf(store).spendFirst([a, b, [order('alt-c', 2), read('alt-c')]]),
      callsOf(store).spend([order('alt-b', 2)]),
      callsOf(store).spendFirst([a, a, b, [order('alt-c', 2), read('alt-c')]]),
      callsOf(store).spend([order('alt-c', 2)]),
      callsOf(store).spendFirst([a, b]),
      callsOf(store).check([order('alt-a'), order('alt-b'), order('alt-c'), read('alt-c')]),
    ]);
    expect(readings.map((each) => [each].flat().map(owed))).toEqual([
      [[0]],
      [[2]],
      [[4], [0]],
      [[2]],
      [[4], [4], [4], [0, 0]],
      [[2]],
      [[4], [4]],
      [[4, 4, 4, 1]],
    ]);
  };
  expect(await sentCalls(batches)).toBe(1);
});

test('four alternatives of eight transactions are one call', async () => {
  await callsOf(store).spend([order('32-last', 5)]);
  const alternatives = ids(4, '32').map((name) => [...ids(7, name), '32-last'].map((id) => order(id)));
  expect(await sentCalls(async () => expect(await callsOf(store).spendFirst(alternatives)).toHaveLength(4))).toBe(1);
});

test('a call of equal batches adds only the key for each', () => {
  const call = emptyCall();
  const add = (id: string): void => {
    void added(call, { kind: 'spend', batch: [order(id), read(id)], keys: [`o:${id}`, `r:${id}`] });
  };
  add('first');
  const { args } = call;
  for (const id of ids(15, 'more')) add(id);
  const { keys, args: argsOfMany } = call;
  expect([keys.length, argsOfMany.length]).toEqual([32, args.length]);
});

test('numbers that many transactions of a batch share are sent once, and different ones stay distinct', async () => {
  const batch = ids(40, 'numbers').map((id, i) => ({ ...order(id), incrementTicks: ((i % 15) + 1) * 16_000_000 }));
  await callsOf(store).spend(batch);
  const { levelsTicks, nowTicks } = await callsOf(store).check(batch);
  const first = levelsTicks.map((level, i) => nowTicks + level - batch.at(i)!.incrementTicks);
  expect(new Set(first).size).toBe(1);
});

test('what waited longer than its deadline, because the process was busy, is not sent', async () => {
  const waiting = callsOf(store).spend([order('busy')], 5);
  const endMs = performance.now() + 10;
  while (performance.now() < endMs);
  await expect(waiting).rejects.toMatchObject({
    code: 'ERR_STORE_DEADLINE',
    message: 'This process was busy for longer than the deadline before it could ask Redis. Nothing was sent.',
  });
  expect(owed(await callsOf(store).check([order('busy')]))).toEqual([0]);
});

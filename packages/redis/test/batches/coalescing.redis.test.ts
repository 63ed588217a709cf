import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { BURST, charge, isAllowed, order, owed, read, refund } from '../support/orders.ts';
import { readyStore } from '../support/ready-store.ts';
import { added, emptyCall } from '../support/script-call.ts';

const server = await redisServer();
const store = await readyStore({ url: server.url, rememberDenialsMs: 0 });
const ids = (count: number, name: string): string[] => Array.from({ length: count }, (_, i) => `${name}-${i}`);

async function callsOf(done: () => Promise<unknown>): Promise<number> {
  const before = store.status().counts.calls;
  await done();
  return store.status().counts.calls - before;
}

describe('batches that are sent in one iteration of the event loop', () => {
  test('travel as one call', async () => {
    const asked = () => Promise.all(ids(20, 'turn').map((id) => store.spend([order(id)])));
    expect(await callsOf(asked)).toBe(1);
  });

  test('travel together from all callbacks of the iteration', async () => {
    // Between two callbacks of a turn Node runs all ticks and microtasks, as it does between two sockets with data.
    const fromOneCallback = (id: string) =>
      new Promise((resolve) => {
        setImmediate(() => resolve(store.spend([order(id)])));
      });
    expect(await callsOf(() => Promise.all(ids(20, 'callback').map(fromOneCallback)))).toBe(1);
  });

  test('travel in calls of at most 32 transactions', async () => {
    expect(await callsOf(() => Promise.all(ids(65, 'many').map((id) => store.spend([order(id)]))))).toBe(3);
    const pairs = () => ids(17, 'pair').map((id) => store.spend([order(id), order(`${id}-too`)]));
    expect(await callsOf(() => Promise.all(pairs()))).toBe(2);
  });

  test('are not split, however large', async () => {
    const large = ids(100, 'large').map((id) => order(id));
    const all = () => Promise.all([store.spend([order('before')]), store.spend(large), store.spend([order('after')])]);
    expect(await callsOf(all)).toBe(3);
  });

  test('are split when they reset: that is not a decision, and many would block the server', async () => {
    const many = ids(100, 'reset');
    await Promise.all(many.map((id) => store.spend([order(id)])));
    expect(await callsOf(() => store.reset(many.map((id) => ({ limit: 'Orders', id }))))).toBe(4);
    expect(owed(await store.check(many.map((id) => order(id))))).toEqual(many.map(() => 0));
    await expect(store.reset([])).resolves.toBeUndefined();
  });

  test('each get their own reading', async () => {
    const costs = [1, 2, 3, 4, 5];
    await Promise.all(costs.map((cost) => store.spend([order(`own-${cost}`, cost)])));
    const readings = await Promise.all(costs.map((cost) => store.check([order(`own-${cost}`), order('own-none')])));
    expect(readings.map(owed)).toEqual(costs.map((cost) => [cost, 0]));
  });

  test('are decided in order: each sees what the former ones took, gave back or forgot', async () => {
    const id = 'ordered';
    const readings = await Promise.all([
      store.spend([order(id, 5)]),
      store.spend([order(id)]),
      store.refund([refund(id, 2)]),
      store.spend([order(id)]),
      store.charge([charge(id, 9)]),
      store.check([order(id)]),
      store.reset([{ limit: 'Orders', id }]).then(() => ({ nowTicks: 0, levelsTicks: [] })),
      store.spend([order(id, 5)]),
    ]);
    expect(readings.flatMap(owed)).toEqual([0, 5, 3, 3, 5, 5, 0]);
  });

  test('pass exactly as often as there are tokens', async () => {
    const batch = [order('exact'), order('exact-too')];
    const readings = await Promise.all(Array.from({ length: 40 }, () => store.spend(batch)));
    expect(readings.map((reading) => isAllowed(batch, reading))).toEqual(
      Array.from({ length: 40 }, (_, i) => i < BURST),
    );
  });

  test('are all answered when one of them is broken', async () => {
    const own = await readyStore({ url: server.url, prefix: 'own:' });
    await server.call('SET', 'own:Orders:broken', 'hello');
    const outcomes = await Promise.allSettled([
      own.spend([order('a')]),
      own.spend([order('b'), order('broken')]),
      own.spend([order('b', 2)]),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(owed(await own.check([order('a'), order('b')]))).toEqual([1, 2]);
    await own.close();
  });

  test('keep each the deadline that it was sent with, and an error names that', async () => {
    const paused = await redisServer();
    const own = await readyStore({ url: paused.url });
    paused.freeze();
    const patient = own.spend([order('patient')], 10_000);
    await expect(own.spend([order('hasty')], 30)).rejects.toMatchObject({
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
  const request = (id: string, cost = 1) => shop.spend([order(id, cost), read(id)]);
  const before = ids(3, 'before').map((id) => request(id));
  const other = [shop.check([read('before-0')]), shop.spend([order('alone', 2)]), request('dear', 3)];
  const after = ids(3, 'after').map((id) => request(id));
  await Promise.all([...before, ...other, ...after]);
  const all = ['before-0', 'before-2', 'dear', 'after-0', 'after-2'];
  const owes = await Promise.all(all.map((id) => shop.check([order(id), read(id)])));
  expect(owes.map(owed)).toEqual([
    [1, 1],
    [1, 1],
    [3, 1],
    [1, 1],
    [1, 1],
  ]);
  expect(owed(await shop.check([order('alone')]))).toEqual([2]);
});

test('alternatives travel with other batches in one call, in order, and nothing of them is mixed up', async () => {
  const batches = async (): Promise<void> => {
    const [a, b] = [[order('alt-a', 2)], [order('alt-b', 2)]];
    const readings = await Promise.all([
      store.spend([order('alt-a', 2)]),
      store.spendFirst([a, b]),
      store.spendFirst([a, b, [order('alt-c', 2), read('alt-c')]]),
      store.spend([order('alt-b', 2)]),
      store.spendFirst([a, a, b, [order('alt-c', 2), read('alt-c')]]),
      store.spend([order('alt-c', 2)]),
      store.spendFirst([a, b]),
      store.check([order('alt-a'), order('alt-b'), order('alt-c'), read('alt-c')]),
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
  expect(await callsOf(batches)).toBe(1);
});

test('four alternatives of eight transactions are one call', async () => {
  await store.spend([order('32-last', 5)]);
  const alternatives = ids(4, '32').map((name) => [...ids(7, name), '32-last'].map((id) => order(id)));
  expect(await callsOf(async () => expect(await store.spendFirst(alternatives)).toHaveLength(4))).toBe(1);
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
  await store.spend(batch);
  const { levelsTicks, nowTicks } = await store.check(batch);
  const first = levelsTicks.map((level, i) => nowTicks + level - batch.at(i)!.incrementTicks);
  expect(new Set(first).size).toBe(1);
});

test('what waited longer than its deadline, because the process was busy, is not sent', async () => {
  const waiting = store.spend([order('busy')], 5);
  const endMs = performance.now() + 10;
  while (performance.now() < endMs);
  await expect(waiting).rejects.toMatchObject({
    code: 'ERR_STORE_DEADLINE',
    message: 'This process was busy for longer than the deadline before it could ask Redis. Nothing was sent.',
  });
  expect(owed(await store.check([order('busy')]))).toEqual([0]);
});

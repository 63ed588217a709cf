import { redisStore, type RedisStore } from '@sluice/redis';
import { expect, test } from 'vitest';
import { GatewayCount } from '../../src/leases/gateway-count.ts';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { running } from '../../../../test/redis/servers/running.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { callsOf } from '@sluice/core/testing';

const SECOND = 16_000_000;
const server = await redisServer();
let prefixes = 0;

/** Several processes, whose syncs are at the moments that a test gives. */
async function processes(count: number, stated: number) {
  const prefix = `count${prefixes++}:`;
  const reported: number[] = [];
  const make = async (id: string) => {
    const store = redisStore({ url: server.url, prefix });
    running.add({ close: () => store.close() });
    await store.ready();
    return { store, count: new GatewayCount({ store, id, stated, onExcess: (counted) => reported.push(counted) }) };
  };
  const all = await Promise.all(Array.from({ length: count }, (_, i) => make(`process-${i}`)));
  return { all, counts: all.map((each) => each.count), reported, prefix };
}

const batches = (stores: readonly { readonly store: RedisStore }[]): number[] =>
  stores.map(({ store }) => store.status().counts.batches);

/** Lets all processes sync at a moment, one after another. */
async function syncAll(counts: readonly GatewayCount[], atTicks: number): Promise<void> {
  for (const [i, count] of counts.entries()) {
    count.synced(atTicks);
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await until('it has counted', () => count.counted !== undefined && count.counted > i);
  }
}

test('processes that sync count each other, at the first sync and then every 30 seconds', async () => {
  const { all, counts, prefix } = await processes(3, 3);
  await syncAll(counts, 0);
  expect(counts.map(({ counted }) => counted)).toEqual([1, 2, 3]);
  expect(batches(all)).toEqual([2, 2, 2]);
  for (const count of counts) count.synced(29 * SECOND);
  expect(batches(all)).toEqual([2, 2, 2]);
  for (const count of counts) count.synced(30 * SECOND);
  await expect.poll(() => counts.map(({ counted }) => counted)).toEqual([3, 3, 3]);
  expect(batches(all)).toEqual([4, 4, 4]);
  expect(await server.call('ZCARD', `${prefix}:gateways@slots`)).toBe(4);
  expect(Number(await server.call('PTTL', `${prefix}:gateways@slots`))).toBeLessThanOrEqual(91_000);
});

test('a process that is closed does not count any more', async () => {
  const { counts } = await processes(2, 2);
  await syncAll(counts, 0);
  counts.at(0)!.synced(30 * SECOND);
  await expect.poll(() => counts.at(0)!.counted).toBe(2);
  await counts.at(1)!.close();
  counts.at(0)!.synced(60 * SECOND);
  await expect.poll(() => counts.at(0)!.counted).toBe(1);
});

test('as many processes as stated are never reported', async () => {
  const { all, counts, reported } = await processes(2, 2);
  await syncAll(counts, 0);
  let seconds = 0;
  for (let round = 1; round <= 5; round++) {
    const before = batches(all).at(1)!;
    // A count that Redis answers too late is made again at a later sync.
    await until('it has counted', () => {
      counts.at(1)!.synced((seconds += 30) * SECOND);
      return batches(all).at(1)! >= before + 2;
    });
    await callsOf(all.at(1)!.store).release([]);
  }
  expect(reported).toEqual([]);
});

test('a process that never synced frees nothing', async () => {
  const { all, counts } = await processes(1, 1);
  await counts.at(0)!.close();
  expect(batches(all)).toEqual([0]);
});

test('more processes than stated are reported when they last longer than an ended one counts, and at most once an hour', async () => {
  const { all, counts, reported } = await processes(3, 2);
  await syncAll(counts, 0);
  const last = counts.at(2)!;
  const looked = async (second: number): Promise<readonly number[]> => {
    const before = batches(all).at(2)!;
    last.synced(second * SECOND);
    await until('it has counted', () => batches(all).at(2) === before + 2);
    // In the same connection, after the count.
    await callsOf(all.at(2)!.store).check([]);
    return reported;
  };
  for (const second of [30, 60]) expect(await looked(second)).toEqual([]);
  expect(await looked(90)).toEqual([3]);
  // oxlint-disable-next-line no-await-in-loop -- one after another
  for (let second = 120; second < 3690; second += 60) await looked(second);
  expect(reported).toEqual([3]);
  expect(await looked(3690)).toEqual([3, 3]);
});

test('an excess that was seen long ago is not one that lasts', async () => {
  const { all, counts, reported } = await processes(2, 1);
  await syncAll(counts, 0);
  for (const [i, second] of [91, 121, 151].entries()) {
    counts.at(1)!.synced(second * SECOND);
    await until('it has counted', () => batches(all).at(1) === 3 * i + 4);
    await callsOf(all.at(1)!.store).release([]);
  }
  expect(reported).toEqual([]);
});

test('a count without an answer changes nothing, and the next one works', async () => {
  const prefix = `broken${prefixes++}:`;
  await server.call('SET', `${prefix}:gateways@slots`, 'text');
  const store = redisStore({ url: server.url, prefix });
  running.add({ close: () => store.close() });
  await store.ready();
  const count = new GatewayCount({ store, id: 'process', stated: 1, onExcess: () => undefined });
  count.synced(0);
  await until('it has asked', () => store.status().counts.batches === 1);
  expect(count.counted).toBeUndefined();
  await server.call('DEL', `${prefix}:gateways@slots`);
  await until('it asks again', () => {
    count.synced(30 * SECOND);
    return count.counted === 1;
  });
});

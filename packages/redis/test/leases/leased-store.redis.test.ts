import {
  leasedStore,
  redisStore,
  type LeasedStore,
  type LeasedStoreEvent,
  type LeasedStoreOptions,
} from '@sluice/redis';
import { nowTicksAt, passes, type StoreReading, type StoreTransaction } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { running } from '../../../../test/redis/servers/running.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { patient } from '../../../../test/patient.ts';
import { realDelay } from '../../../../test/real-delay.ts';
import { order } from '../support/orders.ts';
import { BEYOND, BURST, hourly, page, spendEach, TOKEN } from './support/pages.ts';
import { callsOf } from '@sluice/core/testing';

const server = await redisServer();
let prefixes = 0;

/** A store that is connected, and closed when the test ends. */
async function readyStore(options: Partial<LeasedStoreOptions> = {}): Promise<LeasedStore> {
  const prefix = `leased${prefixes++}:`;
  const store = patient(leasedStore({ url: server.url, prefix, gateways: 2, maxWait: '1s', log: false, ...options }));
  running.add({ close: () => store.close() });
  await store.ready();
  return store;
}

/** The level of a bucket in Redis, in tokens. */
async function levelInRedis(prefix: string, transaction: StoreTransaction): Promise<number> {
  const exact = redisStore({ url: server.url, prefix });
  running.add({ close: () => exact.close() });
  await exact.ready();
  const { levelsTicks } = await callsOf(exact).check([transaction]);
  return Math.ceil(levelsTicks.at(0)! / transaction.rate!.emissionIntervalTicks);
}

const isAllowed = (batch: readonly StoreTransaction[], { levelsTicks }: StoreReading): boolean =>
  passes(batch, levelsTicks);

/** Asks again and again, also for more than there is, until something is true, and counts what passed. */
async function flood(
  stores: readonly LeasedStore[],
  batch: readonly StoreTransaction[],
  isOver: (passed: number, denied: number) => boolean,
): Promise<number> {
  let [passed, denied] = [0, 0];
  const ask = async (store: LeasedStore): Promise<void> => {
    while (!isOver(passed, denied)) {
      if (isAllowed(batch, await callsOf(store).spend(batch))) passed++;
      else {
        denied++;
        await realDelay(1);
      }
    }
  };
  await Promise.all(stores.flatMap((store) => [ask(store), ask(store), ask(store)]));
  return passed;
}

/** The code of the error with which a store rejects a batch. */
async function rejection(store: LeasedStore, batch: readonly StoreTransaction[]): Promise<unknown> {
  try {
    await callsOf(store).spend(batch);
    return undefined;
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}

const isSynced = (store: LeasedStore): boolean => store.status().leases.streams.at(0)?.lastSyncMs !== undefined;
const evalshas = async (): Promise<number> => (await server.commandCalls()).get('evalsha') ?? 0;

describe('a limit with an overshoot', () => {
  test('is decided at once, without a call', async () => {
    const store = await readyStore();
    const before = await evalshas();
    const batch = [page('at-once')];
    const reading = callsOf(store).spend(batch);
    expect(reading).not.toBeInstanceOf(Promise);
    expect(reading).toMatchObject({ remembered: true, levelsTicks: [0] });
    expect(await evalshas()).toBe(before);
  });

  test('is reported to Redis in the background, and counts for other processes', async () => {
    const prefix = `shared${prefixes++}:`;
    const store = await readyStore({ gateways: 1, prefix });
    for (let i = 0; i < 3; i++) await callsOf(store).spend([hourly('reported')]);
    await until('Redis has counted it', async () => (await levelInRedis(prefix, hourly('reported'))) === 3);
    expect(store.status().leases).toMatchObject({ keys: 1, streams: [{ state: 'up', keys: 1 }] });
  });

  test('is exceeded by no more than its bound when two processes are flooded', async () => {
    const prefix = `flood${prefixes++}:`;
    const stores = [await readyStore({ prefix }), await readyStore({ prefix })];
    const startMs = performance.now();
    const passed = await flood(stores, [page('flood')], (count) => count > BURST + 100);
    const most = BURST + Math.ceil((performance.now() - startMs) / 10) + BEYOND;
    expect(passed).toBeLessThanOrEqual(most);
  });

  test.each(['wait', 'deny'] as const)(
    'leaves costs above half of the overdraft to Redis, in the mode %s',
    async (mode) => {
      const prefix = `costly${prefixes++}:`;
      const store = await readyStore({ prefix, mode });
      for (const id of ['one', 'other']) {
        const batch = [page(id), hourly('costly', 50)];
        const reading = callsOf(store).spend(batch);
        expect(reading).toBeInstanceOf(Promise);
        expect(isAllowed(batch, await reading)).toBe(true);
      }
      expect(store.status().leases.waits).toBe(0);
      expect(await levelInRedis(prefix, hourly('costly'))).toBe(100);
      const batch = [page('third'), hourly('costly', 150)];
      expect(isAllowed(batch, await callsOf(store).spend(batch))).toBe(false);
      const check = [hourly('costly', 80)];
      expect(isAllowed(check, await callsOf(store).check(check))).toBe(true);
    },
  );

  test('is decided by Redis when the overshoot is too small, with one event that has the reason', async () => {
    const events: LeasedStoreEvent[] = [];
    const store = await readyStore({ onEvent: (event) => events.push(event) });
    const batch = [page('strict', 1, { overshoot: 0.005 })];
    for (let i = 0; i < 3; i++) {
      const reading = callsOf(store).spend(batch);
      expect(reading).toBeInstanceOf(Promise);
      expect(isAllowed(batch, await reading)).toBe(true);
    }
    expect(events.filter(({ type }) => type === 'limit-strict')).toEqual([
      expect.objectContaining({ limit: 'Pages', reason: expect.stringContaining('1 token,') }),
    ]);
  });

  test('is full again soon after a reset', async () => {
    const store = await readyStore();
    await flood([store], [hourly('reset')], (_, denied) => denied > 10);
    await callsOf(store).reset([hourly('reset')]);
    const batch = [hourly('reset', 150)];
    // Without the reset, this takes days.
    await expect.poll(async () => isAllowed(batch, await callsOf(store).spend(batch))).toBe(true);
  });

  test('takes nothing from a bucket after its reset that was let through before', async () => {
    const prefix = `reset${prefixes++}:`;
    const store = await readyStore({ gateways: 1, prefix });
    for (const cost of [50, 13, 5]) await callsOf(store).spend([hourly('reset', cost)]);
    await callsOf(store).reset([hourly('reset')]);
    await store.close();
    expect(await levelInRedis(prefix, hourly('reset'))).toBe(0);
  });
});

describe('a slow network', () => {
  test('leaves what the overdraft does not pay to Redis, with one event that names the round trip', async () => {
    const proxy = await tcpProxy(server);
    const events: LeasedStoreEvent[] = [];
    const store = await readyStore({ url: proxy.url, onEvent: (event) => events.push(event) });
    proxy.delay(80);
    const spend = (): Promise<boolean[]> =>
      Promise.all(
        Array.from({ length: 15 }, async () =>
          isAllowed([page('far')], await callsOf(store).spend([page('far')], 1000)),
        ),
      );
    const strict = () => events.filter(({ type }) => type === 'limit-strict');
    await until('it is known', async () => {
      expect(await spend()).not.toContain(false);
      return strict().length > 0;
    });
    await spend();
    expect(strict()).toEqual([
      {
        type: 'limit-strict',
        limit: 'Pages',
        reason: expect.stringMatching(/^a sync takes \d+ ms, and its leases last only 60 ms/),
        message: expect.any(String),
        once: true,
      },
    ]);
  });
});

test('a denial by a Redis that is far includes what the other processes may have let through', async () => {
  const proxy = await tcpProxy(server);
  const store = await readyStore({ url: proxy.url });
  proxy.delay(80);
  await callsOf(store).spend([hourly('far', BURST)], 1000);
  const levelOfDenial = async (): Promise<number> => {
    const { levelsTicks } = await callsOf(store).spend([hourly('far', BURST)], 1000);
    return Math.round(levelsTicks.at(0)! / hourly('far').incrementTicks);
  };
  // As soon as it is known that Redis is far. The other process has an overdraft of 9.
  await expect.poll(levelOfDenial).toBe(BURST + 9);
  await proxy.pass();
});

describe('a Redis that hangs', () => {
  test.each([
    { onFailure: 'closed', result: 'ERR_STORE_BUCKET' },
    // The overdraft that it has spent counts, and comes back half as fast as the limit.
    { onFailure: 'local', result: true },
  ] as const)('leaves requests that have waited in vain to the policy $onFailure', async ({ onFailure, result }) => {
    const one = page('hangs', 1, { onFailure });
    const outcomeOf = async () => {
      const proxy = await tcpProxy(server);
      const store = await readyStore({ url: proxy.url, maxWait: '50ms' });
      await callsOf(store).spend([one]);
      await until('it is synced', () => isSynced(store));
      proxy.blackhole();
      let reading = callsOf(store).spend([one]);
      while (!(reading instanceof Promise)) reading = callsOf(store).spend([one]);
      const outcome = await reading.then(
        (each) => isAllowed([one], each),
        (error: { readonly code: string }) => error.code,
      );
      const { streams, waits } = store.status().leases;
      await proxy.pass();
      return { outcome, hasWaited: waits > 0 && streams.at(0)!.state === 'up' };
    };
    let seen = await outcomeOf();
    // Where the machine stalls, Redis is asked because a sync was slow, or three syncs fail first.
    while (!seen.hasWaited) seen = await outcomeOf();
    expect(seen.outcome).toBe(result);
  });
});

describe('a key that contains something else', () => {
  test('is left to Redis, which rejects it, until it is a bucket again', async () => {
    const prefix = `broken${prefixes++}:`;
    const store = await readyStore({ prefix });
    await server.call('RPUSH', `${prefix}Pages:list`, 'element');
    expect(await rejection(store, [page('list', 50)])).toBe('ERR_STORE_BUCKET');
    // Until a sync has found it, the process decides small costs by its overdraft.
    await until('the process knows', async () => (await rejection(store, [page('list')])) === 'ERR_STORE_BUCKET');
    expect(await rejection(store, [page('other'), page('list')])).toBe('ERR_STORE_BUCKET');
    expect(await rejection(store, [page('other')])).toBeUndefined();
    await server.call('DEL', `${prefix}Pages:list`);
    const batch = [page('list')];
    await until('it is leased again', () => !(callsOf(store).spend(batch) instanceof Promise));
  });
});

describe('a refund of a decision', () => {
  async function refundOf(store: LeasedStore, batch: readonly StoreTransaction[]): Promise<StoreReading> {
    const reading = await callsOf(store).spend(batch);
    expect(isAllowed(batch, reading)).toBe(true);
    const refunds = batch.map(({ limit, id, incrementTicks }, i) => {
      const tatAfterSpendTicks = nowTicksAt(reading, i) + reading.levelsTicks.at(i)! + incrementTicks;
      return { limit, id, incrementTicks, tatAfterSpendTicks };
    });
    return callsOf(store).refund(refunds);
  }

  test('that was paid from leases goes back to them', async () => {
    const store = await readyStore();
    let tries = 0;
    await until('leases pay for it', async () => {
      // Three tries take less than the burst of an id.
      const id = `lease${Math.floor(tries++ / 3)}`;
      // A quarter more than was asked for is leased.
      await spendEach(store, 40, page(id));
      const { calls } = store.status().counts;
      const before = await callsOf(store).check([page(id, 0)]);
      const reading = await refundOf(store, [page(id, 10)]);
      // A sync between the two readings changes what the process knows of the bucket.
      if (reading.remembered !== true || store.status().counts.calls !== calls) return false;
      expect(reading.levelsTicks.at(0)! - before.levelsTicks.at(0)!).toBeLessThan(TOKEN);
      return true;
    });
  });

  test('that was paid beyond them reaches Redis', async () => {
    const prefix = `refund${prefixes++}:`;
    const store = await readyStore({ gateways: 1, prefix });
    await callsOf(store).spend([hourly('overdraft')]);
    await until('it is synced', () => isSynced(store));
    await refundOf(store, [hourly('overdraft', 4)]);
    await store.close();
    expect(await levelInRedis(prefix, hourly('overdraft'))).toBe(1);
  });
});

describe('a batch of leased and exact limits', () => {
  test('takes nothing from leases if Redis denies the exact one', async () => {
    const store = await readyStore({ gateways: 1 });
    const full = order('mixed', 5);
    await callsOf(store).spend([full]);
    const batch = [hourly('mixed', 3), order('mixed')];
    for (let i = 0; i < 20; i++) expect(isAllowed(batch, await callsOf(store).spend(batch))).toBe(false);
    const rest = [hourly('mixed', BURST - 1)];
    // Refunds and leases that lapse reach Redis with the next syncs.
    await until('all is given back', async () => isAllowed(rest, await callsOf(store).spend(rest)));
  });

  test('takes nothing from the exact one if the leased one denies', async () => {
    const store = await readyStore();
    await flood([store], [hourly('denies')], (_, denied) => denied > 10);
    const batch = [order('denies'), hourly('denies', 200)];
    const reading = await callsOf(store).spend(batch);
    expect(isAllowed(batch, reading)).toBe(false);
    expect(reading.levelsTicks[0]).toBe(0);
    const rest = [order('denies', 5)];
    expect(isAllowed(rest, await callsOf(store).spend(rest))).toBe(true);
  });

  test('is tried in order with others', async () => {
    const store = await readyStore();
    await callsOf(store).spend([order('first', 5)]);
    const alternatives = [[page('first'), order('first')], [page('second')], [page('third')]];
    const readings = await callsOf(store).spendFirst(alternatives);
    expect(readings.map((reading, i) => isAllowed(alternatives.at(i)!, reading))).toEqual([false, true]);
  });
});

describe('when Redis does not answer', () => {
  test.each(['closed', 'open'] as const)(
    'a limit that fails %s is left to the limiter once leases are spent',
    async (onFailure) => {
      const proxy = await tcpProxy(server);
      const events: LeasedStoreEvent[] = [];
      const store = await readyStore({ url: proxy.url, onEvent: (event) => events.push(event) });
      const batch = [page('outage', 1, { onFailure })];
      await callsOf(store).spend(batch);
      await until('it is synced', () => isSynced(store));
      proxy.blackhole();
      const code = async (): Promise<unknown> => rejection(store, batch);
      await expect.poll(code).toBe('ERR_STORE_UNAVAILABLE');
      await proxy.pass();
      await expect.poll(code).toBeUndefined();
      await until('it reports both', () => events.some(({ type }) => type === 'sync-recovered'));
      const types = events.map(({ type }) => type).filter((type) => type !== 'connection');
      expect(types.slice(0, 2)).toEqual(['sync-failing', 'sync-recovered']);
    },
  );

  test('a local limit passes the share of this process', async () => {
    const proxy = await tcpProxy(server);
    const store = await readyStore({ url: proxy.url });
    const batch = [page('local', 1, { onFailure: 'local' })];
    await callsOf(store).spend(batch);
    await until('it is synced', () => isSynced(store));
    proxy.blackhole();
    await flood([store], batch, () => store.status().leases.streams.at(0)?.state === 'failing');
    // From a moment at which there was nothing left, however long the process is kept waiting after it.
    let startMs;
    do startMs = performance.now();
    while (isAllowed(batch, await callsOf(store).spend(batch)));
    const passed = await flood([store], batch, (count) => count >= 25);
    const seconds = (performance.now() - startMs) / 1000;
    expect(passed).toBeLessThanOrEqual(Math.ceil(50 * seconds) + 5);
  });
});

test('a store that is closed has reported everything, and given its leases back', async () => {
  const prefix = `close${prefixes++}:`;
  const store = await readyStore({ gateways: 1, prefix });
  for (const cost of [50, 20, 2]) {
    const batch = [hourly('closed', cost)];
    expect(isAllowed(batch, await callsOf(store).spend(batch))).toBe(true);
  }
  await store.close();
  expect(() => callsOf(store).spend([page('closed')])).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }));
  expect(await levelInRedis(prefix, hourly('closed'))).toBe(72);
});

test('describes how it decides a limit', async () => {
  const store = await readyStore();
  const numbers = { burst: BURST, intervalTicks: TOKEN, overshoot: 0.1, onFailure: 'closed' } as const;
  expect(store.describeLease(numbers)).toMatchObject({
    leased: true,
    mode: 'wait',
    overdraft: 7,
    bound: BEYOND,
    leaseMs: 60,
  });
  expect(store.describeLease({ ...numbers, overshoot: 0.005 })).toEqual({
    leased: false,
    reason: expect.stringContaining('each of the 2 processes needs one'),
  });
});

// The calls of a store with leases beside `spend`, and batches of buckets that only Redis decides.
import { leasedStore, type LeasedStore, type LeasedStoreEvent, type LeasedStoreOptions } from '@sluice/redis';
import type { Time } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';
import type { StoreCharge, StoreReading, StoreRefund, StoreTransaction } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { patient } from '../../../../test/patient.ts';
import { running } from '../../../../test/redis/servers/running.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { charge, hold, inFlight, order, owed, TOKEN_TICKS } from '../support/orders.ts';
import { BURST, hourly, page, spendEach, TOKEN } from './support/pages.ts';
import { callsOf } from '@sluice/core/testing';

const server = await redisServer();
const HOUR = TOKEN * 360_000;
let prefixes = 0;

async function readyStore(options: Partial<LeasedStoreOptions> = {}): Promise<LeasedStore> {
  const prefix = `calls${prefixes++}:`;
  // The wait is long enough for a busy machine.
  const store = patient(leasedStore({ url: server.url, prefix, gateways: 1, maxWait: '1s', log: false, ...options }));
  running.add({ close: () => store.close() });
  await store.ready();
  return store;
}

/** The levels of hourly buckets, in tokens. */
const hoursOf = ({ levelsTicks }: StoreReading): number[] => levelsTicks.map((level) => Math.ceil(level / HOUR));

const spent = async (store: LeasedStore, batch: readonly StoreTransaction[]): Promise<boolean> =>
  (await callsOf(store).spend(batch)).passed === 0;

function chargeOf(transaction: StoreTransaction): StoreCharge {
  const { mode: _, fitTicks: __, ...rest } = transaction;
  return rest;
}

/** The refund of a decision of one transaction. */
function refundOf({ limit, id, incrementTicks }: StoreTransaction, reading: StoreReading, index = 0): StoreRefund {
  const nowTicks = reading.bucketNowTicks?.at(index) ?? reading.nowTicks;
  return { limit, id, incrementTicks, tatAfterSpendTicks: nowTicks + reading.levelsTicks.at(index)! + incrementTicks };
}

/**
 * A check that the process answers from its view, of a bucket that is not full. A view is recent for some 50 ms, and nothing
 * renews it while a bucket is only looked at: so Redis is asked for more than there is, after which the bucket is synced.
 */
async function viewOf(store: LeasedStore, transaction: StoreTransaction): Promise<StoreReading> {
  let view: StoreReading | undefined;
  await until('the process has a recent view', async () => {
    const reading = callsOf(store).check([transaction]);
    if (!(reading instanceof Promise)) view = reading;
    else if (await spent(store, [hourly(transaction.id, BURST)])) throw new Error('the bucket was full');
    return view !== undefined;
  });
  return view!;
}

describe('a charge', () => {
  test('of leased buckets is made at once, up to an empty bucket', async () => {
    const store = await readyStore();
    const reading = callsOf(store).charge([chargeOf(hourly('charged', 3)), chargeOf(hourly('emptied', BURST))]);
    expect(reading).not.toBeInstanceOf(Promise);
    expect(hoursOf(await reading)).toEqual([3, BURST]);
    expect(hoursOf(await callsOf(store).charge([chargeOf(hourly('emptied', 1))]))).toEqual([BURST]);
  });

  test('of leased buckets and others returns the levels in the order of the batch', async () => {
    const store = await readyStore();
    const reading = await callsOf(store).charge([charge('both', 2), chargeOf(hourly('both', 3))]);
    expect([Math.ceil(reading.levelsTicks.at(0)! / TOKEN_TICKS), hoursOf(reading).at(1)]).toEqual([2, 3]);
    expect(owed(await callsOf(store).charge([charge('both', 1)]))).toEqual([3]);
  });
});

describe('a check', () => {
  test('takes nothing, and asks Redis while the process has no recent view', async () => {
    const store = await readyStore();
    const first = callsOf(store).check([hourly('looked', 3)]);
    expect(first).toBeInstanceOf(Promise);
    expect(hoursOf(await first)).toEqual([0]);
    expect(await spent(store, [hourly('looked', 50)])).toBe(true);
    expect(hoursOf(await viewOf(store, hourly('looked', 3)))).toEqual([50]);
  });

  test('of leased buckets and others returns the levels in the order of the batch', async () => {
    const store = await readyStore();
    expect(await spent(store, [order('both', 2), hourly('both', 50)])).toBe(true);
    const reading = await callsOf(store).check([order('both'), hourly('both')]);
    expect([Math.ceil(reading.levelsTicks.at(0)! / TOKEN_TICKS), hoursOf(reading).at(1)]).toEqual([2, 50]);
  });

  test.each([
    ['check-and-spend', -1],
    ['check-only', -1],
    ['spend-only', 0],
  ] as const)('by the view says whether a spend in the mode %s would pass: %i', async (mode, passed) => {
    const store = await readyStore();
    expect(await spent(store, [hourly('full', BURST)])).toBe(true);
    const view = await viewOf(store, { ...hourly('full', 1), mode });
    expect(view).toMatchObject({ passed, levelsTicks: [expect.any(Number)] });
    expect(view.levelsTicks[0]! + HOUR).toBeGreaterThan(BURST * HOUR);
  });
});

describe('a refund', () => {
  test('of decisions of both kinds gives back to each', async () => {
    const store = await readyStore();
    let tries = 0;
    // What was leased is lost when the lease has lapsed, as on a machine that is busy between the decision and its refund.
    await until('a refund came before the lease lapsed', async () => {
      const id = `both${tries++}`;
      await spent(store, [hourly(id, 50)]);
      const batch = [order(id, 2), hourly(id, 2)];
      const reading = await callsOf(store).spend(batch);
      const refunded = await callsOf(store).refund(batch.map((transaction, i) => refundOf(transaction, reading, i)));
      expect(Math.ceil(refunded.levelsTicks.at(0)! / TOKEN_TICKS)).toBe(0);
      return hoursOf(await viewOf(store, hourly(id))).at(0) === 50;
    });
  });

  test('of a named bucket is made in Redis at once, and the process reads it', async () => {
    const store = await readyStore();
    await spent(store, [hourly('named', 50)]);
    const { limit, id, incrementTicks } = hourly('named', 20);
    expect(hoursOf(await callsOf(store).refund([{ limit, id, incrementTicks }])).at(0)).toBeLessThanOrEqual(50);
    await expect.poll(async () => hoursOf(await callsOf(store).check([hourly('named')]))).toEqual([30]);
  });

  test('before the first sync can give back nothing', async () => {
    const store = await readyStore();
    const transaction = hourly('early', 2);
    const reading = callsOf(store).spend([transaction]);
    if (reading instanceof Promise) throw new Error('not decided at once');
    expect(hoursOf(await callsOf(store).refund([refundOf(transaction, reading)]))).toEqual([2]);
  });
});

describe('a batch', () => {
  test('spends what fits and checks what only must fit', async () => {
    const store = await readyStore();
    await spent(store, [hourly('full', BURST)]);
    await viewOf(store, hourly('full'));
    const batch: StoreTransaction[] = [
      { ...hourly('full', 3), mode: 'spend-only' },
      { ...hourly('looked', 3), mode: 'check-only' },
      { ...hourly('some', 3), mode: 'spend-only' },
      { ...hourly('charged', 2), mode: 'charge' },
    ];
    const reading = await callsOf(store).spend(batch);
    expect(reading.passed).toBe(0);
    expect(hoursOf(reading)).toEqual([BURST, 0, 0, 0]);
    const after = await callsOf(store).spend(
      batch.map((each) => ({ ...each, incrementTicks: 0, mode: 'check-only' as const })),
    );
    expect(hoursOf(after)).toEqual([BURST, 0, 3, 2]);
  });

  test('that is denied has taken nothing, whatever the modes are', async () => {
    const store = await readyStore();
    await spent(store, [hourly('full', BURST)]);
    await viewOf(store, hourly('full'));
    const batch: StoreTransaction[] = [
      { ...hourly('some', 3), mode: 'spend-only' },
      { ...hourly('charged', 2), mode: 'charge' },
      { ...hourly('fits', 2), mode: 'check-only' },
      hourly('full', 1),
    ];
    const reading = await callsOf(store).spend(batch);
    expect(reading.passed).toBe(-1);
    expect(hoursOf(reading)).toEqual([0, 0, 0, expect.any(Number)]);
    expect(reading.levelsTicks.at(3)! + HOUR).toBeGreaterThan(BURST * HOUR);
  });

  test('whose leased part was taken gives it back if Redis does not answer for the rest', async () => {
    const proxy = await tcpProxy(server);
    const store = await readyStore({ url: proxy.url });
    await spent(store, [hourly('taken', 50)]);
    proxy.blackhole();
    const batch = [hourly('taken', 5), order('unanswered')];
    await expect(callsOf(store).spend(batch, 50)).rejects.toMatchObject({ code: 'ERR_STORE_DEADLINE' });
    await proxy.pass();
    await expect.poll(async () => hoursOf(await callsOf(store).check([hourly('taken')]))).toEqual([50]);
  });

  test('of several is tried by Redis in one call if nothing is leased, and needs nothing to pass', async () => {
    const store = await readyStore();
    await callsOf(store).spend([order('first', 5)]);
    const alternatives = [[order('first')], [order('second')]];
    const readings = await callsOf(store).spendFirst(alternatives);
    expect(readings.map(({ passed }) => passed)).toEqual([-1, 0]);
    await callsOf(store).charge([chargeOf(hourly('empty', BURST))]);
    const withEmpty = await callsOf(store).spendFirst([[hourly('empty', 1)], [], [hourly('never', 1)]]);
    expect(withEmpty.map(({ levelsTicks }) => levelsTicks.length)).toEqual([1, 0]);
  });

  test('that waits is denied when the store is closed', async () => {
    const proxy = await tcpProxy(server);
    const store = await readyStore({ url: proxy.url });
    await callsOf(store).spend([page('waits')]);
    proxy.blackhole();
    const batch = [page('waits')];
    let reading = callsOf(store).spend(batch);
    while (!(reading instanceof Promise)) reading = callsOf(store).spend(batch);
    const closing = store.close();
    expect((await reading).passed).toBe(-1);
    await proxy.pass();
    await closing;
  });

  test('that waits with a wrong rest is rejected', async () => {
    const store = await readyStore();
    const wrong = { ...order('wrong'), id: '\uD800' };
    await expect(async () => callsOf(store).spend([page('waits', 50), wrong])).rejects.toMatchObject({
      code: 'ERR_ID',
    });
  });
});

test('slots are held and released as in a store without leases', async () => {
  const store = await readyStore();
  await callsOf(store).spend([inFlight('7', 'a')]);
  await callsOf(store).renew([hold('7', 'a')]);
  const held = async (): Promise<readonly number[]> => (await callsOf(store).check([inFlight('7', 'a')])).levelsTicks;
  expect(await held()).toEqual([1]);
  await callsOf(store).release([hold('7', 'a')]);
  expect(await held()).toEqual([0]);
});

test('more buckets than `maxKeys` are decided by Redis, which is reported once', async () => {
  const events: LeasedStoreEvent[] = [];
  const store = await readyStore({ maxKeys: 1, onEvent: (event) => events.push(event) });
  await spent(store, [hourly('first')]);
  for (const id of ['second', 'third']) {
    const reading = callsOf(store).spend([hourly(id)]);
    expect(reading).toBeInstanceOf(Promise);
    await reading;
  }
  expect(events.filter(({ type }) => type === 'limit-strict')).toEqual([
    expect.objectContaining({ limit: 'Hourly', reason: 'more than 1 buckets are in use (maxKeys)' }),
  ]);
});

test('more processes than `gateways` are reported after 90 seconds', async () => {
  const aheadMicros = { value: 0 };
  // A test can't wait for so long by this process's clock.
  const time: Time = { ...systemTime, nowMicros: () => systemTime.nowMicros() + aheadMicros.value };
  const events: LeasedStoreEvent[] = [];
  const prefix = `many${prefixes++}:`;
  const stores = [
    await readyStore({ prefix, gateways: 1, time, onEvent: (event) => events.push(event) }),
    await readyStore({ prefix, gateways: 1, time }),
  ];
  const use = async (store: LeasedStore, round: number): Promise<void> => {
    await spendEach(store, 20, page(`round-${round}`));
    // The count takes two calls over the same connection.
    for (let i = 0; i < 3; i++) await callsOf(store).check([order('after')]);
  };
  for (let round = 0; round < 5; round++) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    for (const store of stores) await use(store, round);
    expect(stores.map((store) => store.status().leases.gateways)).toEqual(round === 0 ? [1, 2] : [2, 2]);
    aheadMicros.value += 31_000_000;
  }
  expect(events.filter(({ type }) => type === 'too-many-gateways')).toEqual([
    { type: 'too-many-gateways', counted: 2, stated: 1, message: expect.stringContaining('`gateways` states 1') },
  ]);
});

test('what an outage adds is described for each failure policy', async () => {
  const store = await readyStore();
  const outageWith = (onFailure: 'local' | 'closed' | 'open'): unknown => {
    const lease = store.describeLease({ burst: BURST, intervalTicks: TOKEN, overshoot: 0.1, onFailure });
    return lease.leased ? lease.outage : lease;
  };
  expect(outageWith('closed')).toContain('requests get a 503');
  expect(outageWith('local')).toContain(
    'at most 1 token more than this bound if no process reaches Redis (14 if all were idle before);',
  );
  expect(outageWith('open')).toBe('there is no bound: all requests pass');
});

test('every call of a closed store names leasedStore', async () => {
  const store = await readyStore();
  await store.close();
  const closed = { code: 'ERR_CLOSED', message: expect.stringContaining('leasedStore()') };
  expect(() => callsOf(store).reset([hourly('closed')])).toThrow(expect.objectContaining(closed) as Error);
  await expect(store.ready()).rejects.toMatchObject(closed);
  expect(() => callsOf(store).check([hourly('closed')])).toThrow(expect.objectContaining(closed) as Error);
});

test('a store that is closed frees its place among the processes', async () => {
  const prefix = `places${prefixes++}:`;
  const stores = [await readyStore({ prefix }), await readyStore({ prefix })];
  for (const store of stores) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await callsOf(store).spend([page('place', 50)]);
  }
  // The clock is a member, too.
  const members = async (): Promise<unknown> => server.call('ZCARD', `${prefix}:gateways@slots`);
  await expect.poll(members).toBe(3);
  await stores.at(1)!.close();
  expect(await members()).toBe(2);
});

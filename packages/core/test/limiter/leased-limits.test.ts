import {
  accountId,
  createLimiter,
  memoryStore,
  SluiceError,
  type LimiterEvent,
  type LimiterOptions,
  type Store,
} from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { load, eventLoop } from '@sluice/core/load';
import { quota } from '@sluice/core/quota';
import {
  storeGuard,
  type LeaseDescription,
  type OvershootNumbers,
  type StoreReading,
  type StoreTransaction,
} from '@sluice/core/store';
import { callsOf, FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { thrown } from '../support/thrown.ts';

const key = accountId(() => '7');
const leased = { key, count: 100, period: '1s', overshoot: 0.1, onFailure: 'closed' } as const;
const exact = { key, count: 100, period: '1s', onFailure: 'closed' } as const;

const description: LeaseDescription = {
  leased: true,
  mode: 'wait',
  overdraft: 2,
  leaseMs: 120,
  syncMs: 53.333,
  bound: 20,
  formula: '4 processes × 2 tokens + 100/s × 120 ms',
  callsPerSecond: 18.75,
  settleMs: 0,
  lateMs: 60,
  outage: 'requests are denied once the leases are used up',
};

/** A store whose server can't be reached at first: until then, it answers only about limits with an overshoot. */
function leasingStore(options: Pick<Store, 'describeLease'> = {}) {
  const { describeLease = () => description } = options;
  const memory = memoryStore({ time: new FakeTime() });
  const asked: StoreTransaction[] = [];
  const server = { isUp: false };
  const unavailable = (): Promise<StoreReading> =>
    Promise.reject(new SluiceError('ERR_STORE_UNAVAILABLE', 'Redis at 10.0.0.1:6379 is not connected.'));
  const decide = (batch: readonly StoreTransaction[]) => {
    asked.push(...batch);
    const isLeased = batch.length > 0 && batch.every(({ treatment }) => treatment?.overshoot !== undefined);
    if (!isLeased) return server.isUp ? callsOf(memory).spend(batch) : unavailable();
    return { ...callsOf(memory).spend(batch), remembered: true as const };
  };
  const store: Store = {
    guard: storeGuard,
    traits: { leases: true, keepsDeadline: true, slots: true, periods: true },
    describeLease,
    run: (operation) => ('alternatives' in operation ? decide(operation.alternatives.flat()) : unavailable()),
    close: () => undefined,
  };
  return { store, asked, server };
}

function limiterOn(store: Store, limits: object, events: LimiterEvent[] = [], time = new FakeTime()) {
  const options = {
    limits,
    store,
    log: false,
    time,
    onEvent: (event: LimiterEvent) => void events.push(event),
  };
  return createLimiter(options as unknown as LimiterOptions);
}

describe('a store with leases', () => {
  test('gets the overshoot and the failure policy with each transaction', async () => {
    const { store, asked } = leasingStore();
    const limiter = limiterOn(store, { Leased: leased });
    expect(await limiter.spend([{ limit: 'Leased', id: '7' }])).toMatchObject({ allowed: true });
    expect(asked).toMatchObject([{ limit: 'Leased', treatment: { overshoot: 0.1, onFailure: 'closed' } }]);
  });

  test('decides limits with an overshoot during an outage, and policies decide the others', async () => {
    const { store, asked } = leasingStore();
    const limiter = limiterOn(store, { Leased: leased, Exact: exact });
    for (let i = 0; i < 5; i++) {
      expect(await limiter.spend([{ limit: 'Exact', id: '7' }])).toMatchObject({ outcome: 'unavailable' });
    }
    expect(limiter.status().state).toBe('failing');
    asked.length = 0;
    for (let i = 0; i < 5; i++) {
      expect(await limiter.spend([{ limit: 'Leased', id: '7' }])).toMatchObject({ allowed: true, failure: undefined });
    }
    expect(await limiter.check([{ limit: 'Leased', id: '7' }])).toMatchObject({ allowed: true });
    expect(asked.map(({ limit }) => limit)).toEqual(Array(6).fill('Leased'));
    const both = ['Leased', 'Exact'].map((limit) => ({ limit, id: '7' }));
    expect(await limiter.spend(both)).toMatchObject({ outcome: 'unavailable' });
    expect(limiter.status()).toMatchObject({ state: 'failing', outages: 1 });
  });

  test('is found to answer again when only limits with an overshoot are used', async () => {
    const { store, server } = leasingStore();
    const events: LimiterEvent[] = [];
    const time = new FakeTime();
    const limiter = limiterOn(store, { Leased: leased, Exact: exact }, events, time);
    for (let i = 0; i < 5; i++) await limiter.spend([{ limit: 'Exact', id: '7' }]);
    time.advance(1000);
    await limiter.spend([{ limit: 'Leased', id: '7' }]);
    expect(limiter.status().state).toBe('failing');
    server.isUp = true;
    await limiter.spend([{ limit: 'Leased', id: '7' }]);
    expect(limiter.status().state).toBe('failing');
    time.advance(1000);
    await limiter.spend([{ limit: 'Leased', id: '7' }]);
    expect(limiter.status().state).toBe('up');
    expect(events.at(-1)).toMatchObject({ type: 'store-recovered' });
  });

  test('has answered once it has decided by leases: a later failure is no failure at the start', async () => {
    const { store } = leasingStore();
    const events: LimiterEvent[] = [];
    const limiter = limiterOn(store, { Leased: leased, Exact: exact }, events);
    await limiter.spend([{ limit: 'Leased', id: '7' }]);
    await limiter.spend([{ limit: 'Exact', id: '7' }]);
    expect(events).toEqual([]);
  });

  test('describes its limits', () => {
    const given: OvershootNumbers[] = [];
    const describeLease = (numbers: OvershootNumbers): LeaseDescription => {
      given.push(numbers);
      return description;
    };
    const { store } = leasingStore({ describeLease });
    const limiter = limiterOn(store, { Leased: leased, Exact: exact });
    expect(limiter.describe('Leased')).toEqual({
      limit: 'Leased',
      numbers: '100 per 1 s, burst 100',
      exact: false,
      lease: description,
      text: `Leased: 100 per 1 s, burst 100
  decided in the process, by leases (mode wait)
  bound          20 tokens more than the limit in any time (20.0 % of the burst): 4 processes × 2 tokens + 100/s × 120 ms
  overdraft      2 tokens of each process
  lease          120 ms
  sync           every 53.3 ms while in use, about 19 calls a second of each process
  denials        their Retry-After includes up to 0.1 s, for what other processes have not reported
  in an outage   closed: requests are denied once the leases are used up`,
    });
    expect(given).toContainEqual({ burst: 100, intervalTicks: 160_000, overshoot: 0.1, onFailure: 'closed' });
    expect(limiter.describe('Exact')).toMatchObject({ exact: true, lease: undefined });
    const one = leasingStore({ describeLease: () => ({ ...description, overdraft: 1 }) });
    expect(limiterOn(one.store, { Leased: leased }).describe('Leased').text).toContain('1 token of each process');
  });

  test.each([
    {
      settleMs: 10,
      lateMs: 6000,
      text: 'wait until other processes have reported little for 10 ms; if Redis is far, their Retry-After includes up to 6 s',
    },
    { settleMs: 0, lateMs: 6000, text: 'their Retry-After includes up to 6 s' },
    { settleMs: 0, lateMs: 0, text: 'their Retry-After is as without leases' },
  ])('describes how well denials can tell how long to wait: $text', ({ text, ...waits }) => {
    const { store } = leasingStore({ describeLease: () => ({ ...description, ...waits }) });
    expect(limiterOn(store, { Leased: leased }).describe('Leased').text).toContain(`  denials        ${text}`);
  });

  test('is warned of once for each limit whose overshoot it can not meet', () => {
    const describeLease = ({ burst }: OvershootNumbers): LeaseDescription => {
      return burst < 100 ? { leased: false, reason: 'it needs 16 tokens' } : description;
    };
    const events: LimiterEvent[] = [];
    const small = { ...leased, count: 9 };
    const limits = { Leased: leased, Exact: exact, Small: small, Off: { ...small, disabled: true } };
    const limiter = limiterOn(leasingStore({ describeLease }).store, limits, events);
    const message =
      'Limit "Small" is decided exactly, by a call of the store for each request, because it needs 16 tokens. ' +
      'Change its numbers or its overshoot, or remove the overshoot.';
    expect(events).toEqual([{ type: 'warning', message, once: true }]);
    limiter.replace({ limits });
    expect(events).toHaveLength(1);
    limiter.replace({ limits: { Other: small } });
    expect(events[1]?.message).toContain('Limit "Other" is decided exactly');
    expect(limiter.describe('Other').text).toBe(
      'Other: 9 per 1 s, burst 9\n  exact, although it has an overshoot, because it needs 16 tokens',
    );
  });
});

describe('a store without leases', () => {
  const limits = {
    Leased: leased,
    Monthly: quota({ key, count: 100, per: 'month' }),
    InFlight: concurrency({ key, concurrency: 10 }),
    Worker: load({ load: eventLoop() }),
  };

  test('decides limits with an overshoot exactly, without a warning', () => {
    const events: LimiterEvent[] = [];
    const limiter = limiterOn(memoryStore(), limits, events);
    expect(events).toEqual([]);
    expect(limiter.describe('Leased')).toMatchObject({ exact: true, lease: undefined });
  });

  test('describes limits of all kinds', () => {
    const limiter = limiterOn(memoryStore(), limits);
    expect(Object.keys(limits).map((name) => limiter.describe(name).text)).toEqual([
      'Leased: 100 per 1 s, burst 100\n  exact: the store has no leases, and ignores the overshoot',
      'Monthly: 100 per calendar month\n  exact',
      'InFlight: 10 at the same time\n  exact',
      'Worker: the load of this process\n  exact',
    ]);
    expect(thrown(() => limiter.describe('Order')).code).toBe('ERR_UNKNOWN_LIMIT');
  });
});

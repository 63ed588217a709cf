import {
  accountId,
  createLimiter,
  memoryStore,
  type LimiterEvent,
  type LimiterOptions,
  type Store,
} from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { storeGuard, StalePeriodError, type StoreOperation } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { renewed } from '../../../src/kinds/quota/stale-periods.ts';
import type { DecidingOperation } from '../../../src/store/store.ts';

const HOUR_MS = 3_600_000;
/** A minute before the end of June. */
const BEFORE_END = Date.UTC(2026, 6, 1) - 60_000;
const MONTHLY = { limit: 'Monthly', id: '7' };

type Calls = { readonly name: string; readonly deadlineMs: number | undefined }[];

/** A memory store that answers later, with a clock of its own, and records how it was called. */
function remoteStore(wallMs: number) {
  const time = new FakeTime();
  time.setWall(wallMs);
  const store = memoryStore({ time });
  const calls: Calls = [];
  const remote = { calls, time, broken: undefined as Error | undefined };
  const handler: ProxyHandler<Store> = {
    get(target, name, receiver) {
      if (name === 'guard') return storeGuard;
      if (name === 'traits') return { periods: true };
      const method = Reflect.get(target, name, receiver) as unknown;
      if (typeof method !== 'function' || name === 'watch') return method;
      if (name === 'take') return undefined;
      return async (operation: StoreOperation, deadlineMs?: number) => {
        calls.push({ name: operation.kind, deadlineMs });
        if (remote.broken !== undefined) throw remote.broken;
        return target.run(operation);
      };
    },
  };
  /** A view for each gateway, because names of limits are registered for each store object. */
  const view = (): Store => new Proxy<Store>(store, handler);
  return Object.assign(remote, { store: view(), view });
}

function gateway(store: Store, aheadMs: number, options: Partial<LimiterOptions> = {}) {
  const time = new FakeTime();
  time.setWall(BEFORE_END + aheadMs);
  const events: LimiterEvent[] = [];
  const key = accountId();
  const limiter = createLimiter({
    limits: { Monthly: quota({ key, count: 10, per: 'month' }), Often: { key, count: 100, period: '1s' } },
    store,
    time,
    log: false,
    onEvent: (event) => void events.push(event),
    ...options,
  });
  return { limiter, time, events };
}

describe('a gateway whose clock differs from that of the store', () => {
  test.each([300_000, -70 * 24 * HOUR_MS, 400 * 24 * HOUR_MS])(
    'by %d ms counts in the period of the store',
    async (aheadMs) => {
      const { store, calls } = remoteStore(BEFORE_END);
      const { limiter, events } = gateway(store, aheadMs);
      expect(await limiter.spend([MONTHLY])).toMatchObject({ remaining: 9, resetAfterMs: 60_000 });
      expect(calls.map(({ name }) => name)).toEqual(['spend', 'spend']);
      expect(await limiter.spend([MONTHLY])).toMatchObject({ remaining: 8, resetAfterMs: 60_000 });
      // The estimate has been corrected.
      expect(calls).toHaveLength(3);
      expect(events).toEqual([]);
      expect(limiter.status()).toMatchObject({ state: 'up', lastFailure: undefined });
    },
  );

  test('decides with those of other gateways: two whose clocks differ by five minutes never exceed the count', async () => {
    const { view, time } = remoteStore(BEFORE_END);
    const [ahead, right] = [gateway(view(), 300_000), gateway(view(), 0)];
    const allowed = async (): Promise<number> => {
      let count = 0;
      for (let i = 0; i < 15; i++) {
        for (const { limiter } of [ahead, right]) count += Number((await limiter.spend([MONTHLY])).allowed);
      }
      return count;
    };
    expect(await allowed()).toBe(10);
    time.advance(60_000);
    for (const each of [ahead, right]) each.time.advance(60_000);
    expect(await allowed()).toBe(10);
  });

  test('by one that learned a wrong time, it learns again', async () => {
    const { store, time, calls } = remoteStore(BEFORE_END - 90 * 24 * HOUR_MS);
    const { limiter } = gateway(store, 0);
    await limiter.spend([MONTHLY]);
    time.advance(90 * 24 * HOUR_MS);
    expect(await limiter.spend([MONTHLY])).toMatchObject({ remaining: 9, resetAfterMs: 60_000 });
    expect(calls).toHaveLength(4);
  });

  test('repeats every call', async () => {
    const { store, time, calls } = remoteStore(BEFORE_END);
    const { limiter } = gateway(store, 0);
    // Each call finds the store three months later.
    const later = (): void => time.advance(92 * 24 * HOUR_MS);
    const decision = await limiter.spend([MONTHLY]);
    later();
    expect((await limiter.check([MONTHLY])).remaining).toBe(10);
    later();
    expect(await limiter.charge([{ ...MONTHLY, cost: 3 }])).toMatchObject([{ remaining: 7 }]);
    later();
    expect(await limiter.refund([{ ...MONTHLY, cost: 1 }])).toMatchObject([{ remaining: 10 }]);
    later();
    await limiter.charge([MONTHLY]);
    later();
    expect(await limiter.refund(decision)).toMatchObject([{ remaining: 10 }]);
    later();
    const tried = await limiter.check({ firstOf: [[{ ...MONTHLY, cost: 10 }], [{ limit: 'Often', id: '7' }]] });
    expect(tried).toMatchObject({ allowed: true, limit: 'Monthly' });
    later();
    await limiter.reset([MONTHLY]);
    expect(calls.map(({ name }) => name).join(' ')).toBe(
      'spend check check charge charge refund refund charge charge refund refund check check reset',
    );
  });

  test('repeats alternatives that spend', async () => {
    const { store, time } = remoteStore(BEFORE_END);
    const { limiter } = gateway(store, 0);
    const spend = () => limiter.spend({ firstOf: [[{ ...MONTHLY, cost: 10 }], [{ limit: 'Often', id: '7' }]] });
    expect((await spend()).limit).toBe('Monthly');
    expect((await spend()).limit).toBe('Often');
    time.advance(92 * 24 * HOUR_MS);
    expect((await spend()).limit).toBe('Monthly');
  });

  test('takes no token twice: a rate in the same batch counts once', async () => {
    const { store } = remoteStore(BEFORE_END);
    const { limiter } = gateway(store, -90 * 24 * HOUR_MS);
    const decision = await limiter.spend([{ limit: 'Often', id: '7' }, MONTHLY]);
    expect(decision.results.map(({ remaining }) => remaining)).toEqual([99, 9]);
  });
});

test('a memory store with another clock than the limiter uses its own', async () => {
  const time = new FakeTime();
  time.setWall(BEFORE_END);
  const { limiter } = gateway(memoryStore({ time }), 500 * 24 * HOUR_MS);
  expect(await limiter.spend([MONTHLY])).toMatchObject({ remaining: 9, resetAfterMs: 60_000 });
  expect(await limiter.charge([MONTHLY])).toMatchObject([{ remaining: 8 }]);
  expect(await limiter.check({ firstOf: [[MONTHLY], [{ limit: 'Often', id: '7' }]] })).toMatchObject({ remaining: 8 });
});

test('when all repeats fail, the caller gets the error, and the store still counts as up', async () => {
  const remote = remoteStore(BEFORE_END);
  remote.broken = new StalePeriodError([0, 1, 2], BEFORE_END);
  const { limiter, events } = gateway(remote.store, 0);
  await expect(limiter.spend([MONTHLY])).rejects.toMatchObject({ code: 'ERR_STORE_PERIOD' });
  expect(remote.calls).toHaveLength(4);
  expect(events).toEqual([]);
  expect(limiter.status().state).toBe('up');
});

test('all repeats together keep the deadline: each gets the time that is left', async () => {
  const remote = remoteStore(BEFORE_END);
  const { limiter, time } = gateway(remote.store, 400 * 24 * HOUR_MS, { failure: { deadlineMs: 80 } });
  const spent = limiter.spend([MONTHLY]);
  time.advance(30);
  expect((await spent).remaining).toBe(9);
  expect(remote.calls.map(({ deadlineMs }) => deadlineMs)).toEqual([80, 50]);
});

test('a set without quotas calls its store once, also when the store has a wrong clock', async () => {
  const { store, calls } = remoteStore(BEFORE_END - 90 * 24 * HOUR_MS);
  const { limiter } = gateway(store, 0);
  await limiter.spend([{ limit: 'Often', id: '7' }]);
  expect(calls).toHaveLength(1);
});

describe('during an outage', () => {
  const broken = async (gateways: number, onFailure: 'local' | 'open' | 'closed' = 'local') => {
    const remote = remoteStore(BEFORE_END);
    const made = gateway(remote.store, 5000, { failure: { gateways, onFailure } });
    await made.limiter.spend([MONTHLY]);
    remote.broken = new Error('no connection');
    return { ...made, remote };
  };

  test('each gateway has its part of a quota, to the end of the period by its own clock', async () => {
    const { limiter, time } = await broken(3);
    const spend = async () => limiter.spend([MONTHLY]);
    const decisions = [await spend(), await spend(), await spend(), await spend()];
    expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
    expect(decisions[3]).toMatchObject({
      retryAfterMs: 55_000,
      failure: { policy: 'local' },
      results: [{ count: 3, burst: 3, periodMs: 30 * 24 * HOUR_MS }],
    });
    time.advance(55_000);
    expect(await spend()).toMatchObject({ allowed: true, remaining: 2 });
  });

  test('a part is at least one token, and a cost above it takes all of it', async () => {
    const { limiter } = await broken(100);
    const spend = async () => limiter.spend([{ ...MONTHLY, cost: 7 }]);
    expect([await spend(), await spend()]).toMatchObject([{ allowed: true }, { allowed: false }]);
  });

  test('charges and refunds are local too', async () => {
    const { limiter } = await broken(2);
    const decision = await limiter.spend([MONTHLY]);
    expect(await limiter.charge([MONTHLY])).toMatchObject([{ remaining: 3 }]);
    expect(await limiter.refund(decision)).toMatchObject([{ remaining: 4 }]);
  });

  test('local buckets use the clock of this process, also after the estimate of the clock of the store was corrected', async () => {
    const remote = remoteStore(BEFORE_END - 90 * 24 * HOUR_MS);
    const { limiter } = gateway(remote.store, 0);
    await limiter.spend([MONTHLY]);
    remote.broken = new Error('no connection');
    expect(await limiter.spend([MONTHLY])).toMatchObject({ remaining: 9, resetAfterMs: 60_000 });
    const both = { firstOf: [[MONTHLY], [{ limit: 'Often', id: '7' }]] };
    expect(await limiter.spend(both)).toMatchObject({ limit: 'Monthly', remaining: 8 });
  });

  test.each([
    ['open', { allowed: true, limit: null }],
    ['closed', { outcome: 'unavailable', retryAfterMs: 1000 }],
  ] as const)('the policy %s decides as for a rate', async (policy, expected) => {
    const { limiter } = await broken(2, policy);
    expect(await limiter.spend([MONTHLY])).toMatchObject(expected);
  });
});

test('periods are renewed in batches and alternatives; transactions without a calendar do not change', () => {
  const plain = { ...MONTHLY, calendar: undefined };
  const alternatives = [[{ calendar: 'day:0:0:UTC' }], [plain]] as never;
  const { alternatives: made } = renewed({ kind: 'spend', alternatives }, BEFORE_END) as DecidingOperation;
  const [[one], [two]] = made as unknown as [[unknown], [unknown]];
  expect(one).toMatchObject({ period: [BEFORE_END - 86_340_000, BEFORE_END + 60_000, BEFORE_END + 86_460_000] });
  expect(two).toBe(plain);
});

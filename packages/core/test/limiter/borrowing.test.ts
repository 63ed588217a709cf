import {
  accountId,
  createLimiter,
  everyone,
  memoryStore,
  type LimitDefinition,
  type RateDefinition,
  type LimiterEvent,
  type LimitNumbers,
  type LimiterOptions,
  type SpendEntry,
  type Store,
  type Decision,
} from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { transactionOf } from '../../src/decision/batch.ts';
import type { Transaction } from '../../src/decision/transaction.ts';
import { Lender } from '../../src/limiter/lender.ts';
import type { LimitSet } from '../../src/limits/limit-set.ts';
import { defineLimits } from '../../src/limits/limit.ts';
import { withPools } from '../../src/limits/pools.ts';
import { atOnce } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

type Borrow = NonNullable<RateDefinition['borrow']>;
type Numbers = Partial<Omit<RateDefinition, 'borrow'>> & { readonly borrow?: Partial<Borrow> };

/** 2 tokens are assured, one comes back each second; the pool has 6, four come back each second; nobody gets above 5. */
function started({ borrow, ...numbers }: Numbers = {}, options: Partial<LimiterOptions> = {}) {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const events: LimiterEvent[] = [];
  const ceiling = { burst: 5, count: 2, period: '1s' };
  const perUser = { key: accountId(), burst: 2, count: 1, period: '1s', ...numbers };
  const limits = {
    PerUser: { ...perUser, borrow: { from: 'Pool', ceiling, fair: false, ...borrow } },
    Pool: { key: everyone(), burst: 6, count: 4, period: '1s' },
    Other: { key: accountId(), count: 3, period: '1h' },
  };
  const limiter = createLimiter({
    limits,
    store,
    time,
    log: false,
    onEvent: (event) => events.push(event),
    ...options,
  });
  const spend = (id = 'a', more: Partial<SpendEntry> = {}) =>
    atOnce(limiter.spend([{ limit: 'PerUser', id, ...more }]));
  const left = (limit: string, id: string): number => {
    const name = limit as 'Pool';
    return atOnce(limiter.check([{ limit: name, id, cost: 0 }])).remaining;
  };
  const pool = (): number => left('Pool', 'everyone');
  const levels = (id = 'a') => {
    const [own = 0, ceilingLevel = 0, poolLevel = 0] = store.check(
      [
        { limit: 'PerUser', id },
        { limit: 'PerUser.ceiling', id },
        { limit: 'Pool', id: 'everyone' },
      ].map((bucket) => ({ ...bucket, incrementTicks: 0, fitTicks: 0, capTicks: 0, mode: 'check-only' as const })),
    ).levelsTicks;
    // In tokens: T is 1 s, 0.5 s and 0.25 s.
    return { own: own / 16e6, ceiling: ceilingLevel / 8e6, pool: poolLevel / 4e6 };
  };
  return { limiter, time, store, events, limits, spend, left, pool, levels };
}

describe('a limit that borrows', () => {
  test('takes its own tokens first, then those of the pool, up to its ceiling', () => {
    const { spend, levels } = started();
    const outcomes = Array.from({ length: 6 }, () => {
      const { outcome, results } = spend();
      return [outcome, results[0]?.borrowed, results[0]?.remaining];
    });
    expect(outcomes).toEqual([
      ['allowed', false, 1],
      ['allowed', false, 0],
      ['allowed', true, 0],
      ['allowed', true, 0],
      ['allowed', true, 0],
      ['denied', false, 0],
    ]);
    expect(levels()).toEqual({ own: 2, ceiling: 5, pool: 5 });
  });

  test('has one result, with the figures of its own bucket', () => {
    const { spend } = started();
    const decision = spend('a', { cost: 2 });
    expect(decision).toMatchObject({ limit: 'PerUser', id: 'a', remaining: 0, resetAfterMs: 2000 });
    const borrowed = spend('a', { cost: 2 });
    expect(borrowed.results).toEqual([
      {
        limit: 'PerUser',
        id: 'a',
        cost: 2,
        spent: 2,
        mode: 'check-and-spend',
        allowed: true,
        blocked: false,
        borrowed: true,
        remaining: 0,
        retryAfterMs: 0,
        resetAfterMs: 2000,
        burst: 2,
        count: 1,
        periodMs: 1000,
        overridden: false,
        hidden: false,
      },
    ]);
  });

  test('is never denied its own tokens, even if others have emptied the pool', () => {
    const { limiter, spend, levels } = started();
    atOnce(limiter.charge([{ limit: 'Pool', id: 'everyone', cost: 6 }]));
    expect(spend('a').results[0]).toMatchObject({ allowed: true, borrowed: false });
    expect(spend('a').outcome).toBe('allowed');
    expect(levels().pool).toBe(8);
    expect(spend('a').outcome).toBe('denied');
  });

  test('may take the pool down to D below empty, which passes with time', () => {
    const { limiter, time, spend, levels } = started({ borrow: { tenants: 4 } });
    atOnce(limiter.charge([{ limit: 'Pool', id: 'everyone', cost: 6 }]));
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) expect(spend(id, { cost: 2 }).allowed).toBe(true);
    expect(levels().pool).toBe(6 + 4 * 2);
    time.advance(1000);
    expect(levels().pool).toBe(10);
  });

  test('is denied for the shorter of the two waits', () => {
    const { spend, time } = started();
    spend('b', { cost: 2 });
    for (const cost of [2, 2]) spend('a', { cost });
    // The pool has no token, and gets one in 250 ms; its own bucket gets two in 2 s. The ceiling has one left.
    expect(spend('a', { cost: 2 })).toMatchObject({ outcome: 'denied', retryAfterMs: 500 });
    time.advance(499.999);
    expect(spend('a', { cost: 2 }).allowed).toBe(false);
    time.advance(0.001);
    expect(spend('a', { cost: 2 }).results[0]).toMatchObject({ allowed: true, borrowed: true });
    spend('b', { cost: 2 });
    // Now the pool is the slower one.
    spend('c', { cost: 2 });
    expect(spend('d', { cost: 2 }).results[0]).toMatchObject({ allowed: true, borrowed: false });
    time.advance(1500);
    expect(spend('a', { cost: 1 }).results[0]).toMatchObject({ allowed: true, borrowed: false });
  });

  test('waits for the longer of two limits, each by its shorter way', () => {
    const { limiter, time, spend } = started();
    const both = (other: number) =>
      atOnce(
        limiter.spend([
          { limit: 'PerUser', id: 'a' },
          { limit: 'Other', id: 'a', cost: other },
        ]),
      );
    both(3);
    for (let i = 0; i < 4; i++) spend();
    expect(both(1)).toMatchObject({ outcome: 'denied', limit: 'Other', retryAfterMs: 1_200_000 });
    time.advance(1_199_000);
    spend('a', { cost: 2 });
    spend('a', { cost: 2 });
    time.advance(500);
    const { retryAfterMs, limit, results } = both(1);
    expect({ retryAfterMs, limit, allowed: results.map(({ allowed }) => allowed) }).toEqual({
      retryAfterMs: 500,
      limit: 'Other',
      // It could borrow.
      allowed: [true, false],
    });
  });

  test('is denied for its ceiling alone, while its own bucket has a token', () => {
    const { spend, time } = started({ borrow: { ceiling: { burst: 2, count: 1, period: '1s' } } });
    spend('a', { cost: 1 });
    spend('a', { cost: 1 });
    time.advance(999);
    expect(spend('a')).toMatchObject({ outcome: 'denied', retryAfterMs: 1 });
  });

  test('leaves all buckets as they are in a check, which reports what a spend would do', () => {
    const { limiter, spend, levels } = started();
    spend('a', { cost: 2 });
    const before = levels();
    const checked = atOnce(limiter.check([{ limit: 'PerUser', id: 'a' }]));
    expect(checked.results).toMatchObject([{ allowed: true, borrowed: true, spent: 0, cost: 1 }]);
    expect(levels()).toEqual(before);
    expect(atOnce(limiter.refund(checked))).toEqual([]);
  });

  test('is part of a batch that takes from all or none', () => {
    const { limiter, spend, levels, left } = started();
    const both = (cost: number) =>
      atOnce(
        limiter.spend([
          { limit: 'Other', id: 'a', cost },
          { limit: 'PerUser', id: 'a' },
        ]),
      );
    expect(both(3).results.map(({ limit }) => limit)).toEqual(['Other', 'PerUser']);
    expect(both(1)).toMatchObject({ outcome: 'denied', limit: 'Other' });
    expect(levels()).toEqual({ own: 1, ceiling: 1, pool: 1 });
    spend();
    expect(both(1).outcome).toBe('denied');
    expect(levels()).toEqual({ own: 2, ceiling: 2, pool: 2 });
    expect(left('Other', 'a')).toBe(0);
  });

  test('borrows nothing for a cost that the pool can never contain', () => {
    const { spend } = started({ burst: 8, borrow: { ceiling: { burst: 20, count: 2, period: '1s' } } });
    spend('a', { cost: 8 });
    expect(spend('a', { cost: 7 })).toMatchObject({ outcome: 'denied', retryAfterMs: 7000 });
    expect(spend('a', { cost: 1 }).results[0]).toMatchObject({ allowed: false, borrowed: false });
  });

  test('rejects a cost above its own burst, even if the pool has it', () => {
    const { limiter } = started();
    expect(thrown(() => limiter.spend([{ limit: 'PerUser', id: 'a', cost: 3 }])).code).toBe('ERR_COST_OVER_BURST');
  });

  test('reports unlimited and blocked ids as any limit does', () => {
    const { spend, pool } = started({}, { overrides: { PerUser: { vip: 'unlimited', bad: 'blocked' } } });
    expect(spend('vip')).toMatchObject({ outcome: 'allowed', limit: null });
    expect(spend('bad')).toMatchObject({ outcome: 'denied', blocked: true });
    expect(pool()).toBe(6);
  });

  test('has the share of its own bucket and of the pool', () => {
    const { limiter, spend } = started();
    const low = (id: string) => atOnce(limiter.spend([{ limit: 'PerUser', id, share: 0.5 }])).results;
    const all = Array.from({ length: 4 }, () => low('a')).flat();
    expect(all.map(({ allowed, borrowed }) => [allowed, borrowed])).toEqual([
      [true, false],
      [true, true],
      [true, true],
      [false, false],
    ]);
    expect(spend('a').results[0]).toMatchObject({ allowed: true, borrowed: false });
    expect(spend('a').results[0]).toMatchObject({ allowed: true, borrowed: true });
  });
});

/** A clock that moves on at each reading. */
class MovingTime extends FakeTime {
  stepMs = 0;

  override nowMicros(): number {
    this.advance(this.stepMs);
    return super.nowMicros();
  }
}

describe('own tokens that come back after the store has denied them', () => {
  function between(entries: Partial<SpendEntry> = {}) {
    const time = new MovingTime();
    const { limiter, spend } = started({}, { store: memoryStore({ time }) });
    spend('a', { cost: 2 });
    time.stepMs = 500;
    return { limiter, decision: spend('a', entries), time };
  }

  test('are taken, and are not reported as borrowed', () => {
    const { limiter, decision, time } = between();
    expect(decision.results).toMatchObject([{ allowed: true, borrowed: false, spent: 1, remaining: 0 }]);
    time.stepMs = 0;
    expect(atOnce(limiter.refund(decision))).toMatchObject([{ limit: 'PerUser', remaining: 1 }]);
  });

  test('do not matter if they are not enough', () => {
    const { decision } = between({ cost: 2 });
    expect(decision.results).toMatchObject([{ allowed: true, borrowed: true, spent: 2, remaining: 1 }]);
  });
});

describe('the numbers of an override', () => {
  const big = { burst: 4, count: 2, period: '1s' };

  test('are what is assured to its id, under the ceiling of the limit or its own', () => {
    const own = { ...big, borrow: { ceiling: { burst: 9, count: 4, period: '1s' } } };
    const { spend } = started({}, { overrides: { PerUser: { a: big, b: own } } });
    expect(spend('a', { cost: 4 }).results[0]).toMatchObject({ borrowed: false, overridden: true, burst: 4 });
    expect(spend('a').results[0]).toMatchObject({ borrowed: true });
    expect(spend('a').outcome).toBe('denied');
    expect(spend('b', { cost: 4 }).results[0]).toMatchObject({ borrowed: false });
  });

  test('of a function that are above the ceiling raise it', () => {
    const { spend } = started({}, { overrides: () => ({ burst: 9, count: 9, period: '1s' }) });
    expect(spend('a', { cost: 9 }).results[0]).toMatchObject({ allowed: true, borrowed: false });
    expect(spend('a').outcome).toBe('denied');
    const slow = started({}, { overrides: () => ({ burst: 9, count: 1, period: '1s' }) });
    expect(slow.spend('a', { cost: 9 }).results[0]).toMatchObject({ allowed: true, borrowed: false });
  });

  test('of a function may change the ceiling only of a limit that borrows', () => {
    const borrow = { ceiling: { burst: 4, count: 2, period: '1s' } };
    const { limiter, spend, events } = started({}, { overrides: () => ({ ...big, borrow }) });
    spend('a', { cost: 4 });
    expect(spend('a').outcome).toBe('denied');
    expect(events).toEqual([]);
    const waiting = started({}, { overrides: () => ({ ...big, maxWait: '1s' }) });
    waiting.spend();
    expect(waiting.events).toMatchObject([{ type: 'override-failed', message: expect.stringContaining('`maxWait`') }]);
    atOnce(limiter.spend([{ limit: 'Other', id: 'a' }]));
    expect(events).toMatchObject([
      { type: 'override-failed', limit: 'Other', message: expect.stringContaining('borrow') },
    ]);
  });

  test('of a function are validated for each limit, also if another has the same object', () => {
    const waits = { ...big, maxWait: '1s' } as const;
    const borrows = { ...big, borrow: { weight: 2 } };
    const { limiter, spend, events } = started({}, { overrides: (_, id) => (id === 'a' ? waits : borrows) });
    atOnce(limiter.spend([{ limit: 'Other', id: 'a' }]));
    spend('b');
    expect(events).toEqual([]);
    expect(spend('a').results[0]).toMatchObject({ overridden: false, burst: 2 });
    atOnce(limiter.spend([{ limit: 'Other', id: 'b' }]));
    expect(events).toMatchObject([
      { type: 'override-failed', limit: 'PerUser', message: expect.stringContaining('`maxWait`') },
      { type: 'override-failed', limit: 'Other', message: expect.stringContaining('borrow') },
    ]);
  });
});

describe('modes and other calls of a limit that borrows', () => {
  test('check-only takes nothing, and passes by its own tokens or by the pool', () => {
    const { spend, levels, limiter } = started();
    const look = () => spend('a', { mode: 'check-only' }).results[0];
    expect(look()).toMatchObject({ mode: 'check-only', allowed: true, borrowed: false, cost: 1, spent: 0 });
    expect(levels()).toEqual({ own: 0, ceiling: 0, pool: 0 });
    spend('a', { cost: 2 });
    expect(look()).toMatchObject({ mode: 'check-only', allowed: true, borrowed: true, cost: 1, spent: 0 });
    expect(levels()).toEqual({ own: 2, ceiling: 2, pool: 2 });
    atOnce(limiter.charge([{ limit: 'Pool', id: 'everyone', cost: 6 }]));
    expect(look()).toMatchObject({ mode: 'check-only', allowed: false, borrowed: false, retryAfterMs: 250 });
  });

  test('spend-only is rejected, also when a middleware would be made', () => {
    const { limiter } = started();
    const { code, message } = thrown(() => limiter.spend([{ limit: 'PerUser', id: 'a', mode: 'spend-only' }]));
    expect([code, message]).toEqual([
      'ERR_OPTION',
      "`mode` of limit \"PerUser\" must be 'check-and-spend', 'check-only' or 'charge', because the limit borrows, but " +
        "was 'spend-only'. To count without denying use mode: 'charge', or `shadow: true` of the middleware.",
    ]);
  });

  test('charge takes from all three buckets: it empties its own and the ceiling at most, and the pool to D below', () => {
    const { limiter, levels, spend } = started();
    expect(spend('a', { mode: 'charge', cost: 2 }).results[0]).toMatchObject({
      spent: 2,
      allowed: true,
      borrowed: false,
    });
    expect(spend('a', { mode: 'charge', cost: 2 }).results[0]).toMatchObject({ spent: 2, allowed: true, remaining: 0 });
    expect(levels()).toEqual({ own: 2, ceiling: 4, pool: 4 });
    const states = atOnce(limiter.charge([{ limit: 'PerUser', id: 'a', cost: 90 }]));
    expect(states).toMatchObject([{ limit: 'PerUser', id: 'a', remaining: 0 }]);
    expect(levels()).toEqual({ own: 2, ceiling: 5, pool: 14 });
  });

  test('what is charged after the fact is not lent to others once more', () => {
    const overrides = { PerUser: { hungry: { burst: 1, count: 1, period: '1s' } } } as const;
    const { limiter, spend, time } = started(
      { count: 2, borrow: { tenants: 1, ceiling: { burst: 5, count: 8, period: '1s' } } },
      { overrides },
    );
    let used = 0;
    for (let ms = 0; ms < 60_000; ms += 125) {
      time.advance(125);
      if (spend('hungry').allowed) used++;
      if (ms % 500 > 0 || !spend('a', { mode: 'check-only' }).allowed) continue;
      atOnce(limiter.charge([{ limit: 'PerUser', id: 'a' }]));
      used++;
    }
    // The rate, the burst, and the assured bursts.
    expect(used).toBeLessThanOrEqual(4 * 60 + 6 + 3);
  });

  test('a debt is that of the ceiling and of the pool too, so that the pool does not lend to a client in debt', () => {
    const { limiter, spend, levels, time } = started({ maxDebt: 100, borrow: { tenants: 4 } });
    atOnce(limiter.charge([{ limit: 'PerUser', id: 'a', cost: 200 }]));
    expect(levels()).toEqual({ own: 102, ceiling: 105, pool: 200 });
    time.advance(50_000);
    expect(spend()).toMatchObject({ outcome: 'denied', retryAfterMs: 500 });
    time.advance(500);
    expect(spend().results[0]).toMatchObject({ allowed: true, borrowed: true });
  });

  test('the debt of a pool includes that of listed overrides, their own or that of the limit', () => {
    const numbers = { burst: 2, count: 1, period: '1s' };
    const overrides = { PerUser: { a: numbers, b: { ...numbers, maxDebt: 7 } } };
    const { limiter, levels } = started({ maxDebt: 100, borrow: { tenants: 1 } }, { overrides });
    atOnce(limiter.charge([{ limit: 'Pool', id: 'everyone', cost: 6 }]));
    for (const id of ['a', 'b', 'c', 'd']) atOnce(limiter.charge([{ limit: 'PerUser', id, cost: 102 }]));
    expect(levels().pool).toBe(6 + 102 + 9 + 102);
  });

  test('charge and refund of several ids take and give the sum at the pool', () => {
    const { limiter, levels, pool } = started();
    const entries = [
      { limit: 'PerUser', id: 'a', cost: 2 },
      { limit: 'Pool', id: 'everyone', cost: 1 },
      { limit: 'PerUser', id: 'b', cost: 1 },
    ] as const;
    const states = atOnce(limiter.charge(entries));
    expect(states.map(({ limit, remaining }) => [limit, remaining])).toEqual([
      ['PerUser', 0],
      ['Pool', 2],
      ['PerUser', 1],
    ]);
    expect(levels('a')).toEqual({ own: 2, ceiling: 2, pool: 4 });
    expect(atOnce(limiter.refund(entries)).map(({ remaining }) => remaining)).toEqual([2, 6, 2]);
    expect([levels('a'), levels('b'), pool()]).toEqual([
      { own: 0, ceiling: 0, pool: 0 },
      { own: 0, ceiling: 0, pool: 0 },
      6,
    ]);
  });

  test('reset fills its own bucket and its ceiling, not the pool', () => {
    const { limiter, levels, spend } = started();
    for (const cost of [2, 2]) spend('a', { cost });
    atOnce(limiter.reset([{ limit: 'PerUser', id: 'a' }]));
    expect(levels()).toEqual({ own: 0, ceiling: 0, pool: 4 });
    atOnce(limiter.reset([{ limit: 'Pool', id: 'everyone' }]));
    expect(levels().pool).toBe(0);
  });

  test('a refund of a decision gives back exactly what it took from each bucket, once', () => {
    const { limiter, levels, spend } = started();
    const assured = spend('a', { cost: 2 });
    const borrowed = spend('a', { cost: 2 });
    expect(levels()).toEqual({ own: 2, ceiling: 4, pool: 4 });
    // Its own bucket stays as it is.
    expect(atOnce(limiter.refund(borrowed))).toEqual([]);
    expect(levels()).toEqual({ own: 2, ceiling: 2, pool: 2 });
    atOnce(limiter.refund(borrowed));
    expect(atOnce(limiter.refund(assured))).toMatchObject([{ limit: 'PerUser', remaining: 2 }]);
    expect(levels()).toEqual({ own: 0, ceiling: 0, pool: 0 });
    const denied = spend('a', { cost: 2 }) && spend('a', { cost: 2 }) && spend('a', { cost: 2 });
    expect(denied.outcome).toBe('denied');
    expect(atOnce(limiter.refund(denied))).toEqual([]);
  });

  test('a refund of a charge that the pool took in part gives back that part', () => {
    const { limiter, levels, spend } = started();
    atOnce(limiter.charge([{ limit: 'PerUser', id: 'b', cost: 13 }]));
    const charged = spend('a', { mode: 'charge', cost: 2 });
    expect(levels()).toEqual({ own: 2, ceiling: 2, pool: 14 });
    atOnce(limiter.refund(charged));
    expect(levels()).toEqual({ own: 0, ceiling: 0, pool: 13 });
  });
});

describe('limits that borrow, decided together', () => {
  const ceiling = { burst: 5, count: 2, period: '1s' };
  const second = {
    PerOrg: { key: accountId(), burst: 2, count: 1, period: '1s', borrow: { from: 'Reserve', ceiling, fair: false } },
    Reserve: { key: everyone(), burst: 3, count: 1, period: '1s' },
    Third: { key: accountId(), burst: 2, count: 1, period: '1s', borrow: { from: 'Fund', ceiling } },
    Fund: { key: everyone(), burst: 3, count: 1, period: '1s' },
    PerKey: { key: accountId(), burst: 2, count: 1, period: '1s', borrow: { from: 'Pool', ceiling } },
  };
  const user = { limit: 'PerUser', id: 'a' };
  const org = { limit: 'PerOrg', id: 'o' };

  function withSecond() {
    const { limits, time } = started();
    const all: Record<string, LimitDefinition> = { ...limits, ...second };
    const limiter = createLimiter({ limits: all, time, log: false });
    const both = () => atOnce(limiter.spend([user, org]));
    return { limiter, time, both };
  }

  test('from two pools: each by its own tokens or those of its pool', () => {
    const { limiter, both } = withSecond();
    atOnce(limiter.spend([{ ...org, cost: 2 }]));
    const lent = Array.from({ length: 4 }, () => both().results.map(({ allowed, borrowed }) => allowed && borrowed));
    expect(lent).toEqual([
      [false, true],
      [false, false],
      [false, false],
      [false, false],
    ]);
    expect(both().results.map(({ allowed }) => allowed)).toEqual([true, false]);
  });

  test('from two pools: a refund gives each pool what it lent', () => {
    const { limiter, both } = withSecond();
    atOnce(limiter.spend([{ ...user, cost: 2 }]));
    const decision = both();
    expect(decision.results.map(({ borrowed }) => borrowed)).toEqual([true, false]);
    atOnce(limiter.refund(decision));
    const remaining = ['Pool', 'Reserve'].map(
      (limit) => atOnce(limiter.check([{ limit, id: 'everyone', cost: 0 }])).remaining,
    );
    expect(remaining).toEqual([4, 3]);
  });

  test('may not take from one pool twice, nor beside the pool itself', () => {
    const { limiter } = withSecond();
    const wrong = [
      [user, { limit: 'PerKey', id: 'k' }],
      [user, { limit: 'PerUser', id: 'b' }],
      [user, { limit: 'Pool', id: 'everyone' }],
    ];
    const errors = wrong.map((entries) => thrown(() => limiter.spend(entries)));
    expect(errors.map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'ERR_DUPLICATE_BUCKET'));
    expect(errors.map(({ message }) => message)).toEqual([
      'The batch takes from "Pool" twice, for "PerUser" and for "PerKey". Decide one of the two after the other, or give each a pool.',
      'The batch takes from "Pool" twice, for "PerUser" and for "PerUser". Decide one of the two after the other, or give each a pool.',
      'The batch names "Pool" itself beside "PerUser", which borrows from it and counts there already. Leave out "Pool".',
    ]);
  });

  test('are at most two, and need at most eight buckets together', () => {
    const { limiter } = withSecond();
    const three = thrown(() => limiter.spend([user, org, { limit: 'Third', id: 't' }]));
    expect([three.code, three.message]).toEqual(['ERR_OPTION', expect.stringContaining('at most 4 alternatives')]);
    const many = ['1', '2', '3', '4', '5', '6'].map((id) => ({ limit: 'Other', id }));
    expect(thrown(() => limiter.spend([user, ...many])).message).toContain('at most 8 buckets');
    expect(atOnce(limiter.spend([user, ...many.slice(1)])).allowed).toBe(true);
  });

  test('are alternatives of firstOf too, as long as they are four together', () => {
    const { limiter } = withSecond();
    const spend = (...batches: { limit: string; id: string }[][]) => atOnce(limiter.spend({ firstOf: batches }));
    const taken = Array.from(
      { length: 6 },
      () => spend([user], [org]).results.map(({ limit, borrowed }) => [limit, borrowed])[0],
    );
    expect(taken).toEqual([
      ['PerUser', false],
      ['PerUser', false],
      ['PerUser', true],
      ['PerUser', true],
      ['PerUser', true],
      ['PerOrg', false],
    ]);
    expect(spend([user], [{ limit: 'Other', id: 'a' }])).toMatchObject({ allowed: true, limit: 'Other' });
    expect(thrown(() => limiter.spend({ firstOf: [[user, org], [org]] })).message).toContain('at most 4 alternatives');
    for (let i = 0; i < 4; i++) spend([user], [org]);
    // The ceiling of PerUser in 0.5 s; PerOrg in a second.
    expect(spend([user], [org])).toMatchObject({ outcome: 'denied', limit: 'PerUser', retryAfterMs: 500 });
  });
});

describe('a fair pool', () => {
  const fair = { borrow: { fair: true, ceiling: { burst: 100, count: 100, period: '1s' } } };

  test('lends less of its bucket to a client that has just borrowed than to another', () => {
    const { spend } = started({ ...fair, burst: 1 });
    const lent = (id: string) =>
      Array.from({ length: 8 }, () => spend(id)).filter(({ results }) => results[0]?.borrowed).length;
    const hungry = lent('a');
    expect(hungry).toBeLessThan(5);
    expect(hungry).toBeGreaterThan(1);
    // b has the whole rest of the pool at its first request.
    expect(lent('b')).toBeGreaterThan(0);
  });

  test('remembers who has borrowed while many others borrow, but not without bound', () => {
    const { limits, spend, time } = started({ burst: 1, borrow: { ...fair.borrow, weight: 0.01 } });
    spend();
    const [lent] = spend().results;
    const lender = new Lender(time, () => undefined);
    const limit = withPools(defineLimits(limits, 'local'), () => undefined).get('PerUser')!;
    const set = { rateFor: () => limit.rate } as unknown as LimitSet;
    const ask = { limit, id: 'a', cost: 1, mode: 'check-and-spend', share: 1 } as const;
    const transaction = transactionOf(set, ask, undefined) as Transaction;
    const lendTo = (id: string): void =>
      lender.noteLent({ results: [{ ...lent, id }] } as unknown as Decision, [{ ...transaction, id }]);
    const flood = (): void => {
      for (let i = 0; i < 50_000; i++) lendTo(`x${i}`);
    };
    lendTo('a');
    flood();
    // Its own tokens only.
    expect(lender.alternativesOf([transaction]).length).toBe(1);
    flood();
    flood();
    expect(lender.alternativesOf([transaction]).length).toBe(2);
  });

  test('forgets what was borrowed as it decays', () => {
    const { spend, time } = started({ ...fair, burst: 1 });
    const lend = () => Array.from({ length: 8 }, () => spend('a')).filter(({ results }) => results[0]?.borrowed).length;
    const first = lend();
    time.advance(60_000);
    // Another client borrows, so that the first is forgotten.
    for (let i = 0; i < 3; i++) spend('b');
    time.advance(60_000);
    expect(lend()).toBe(first);
  });

  test('lends more to a client with a larger weight', () => {
    const weight = (id: string) => (id === 'big' ? 10 : 0.1);
    const lentTo = (id: string) => {
      const { spend } = started({ borrow: { ...fair.borrow, weight }, burst: 1 });
      return Array.from({ length: 8 }, () => spend(id)).filter(({ results }) => results[0]?.borrowed).length;
    };
    expect(lentTo('big')).toBe(4);
    expect(lentTo('small')).toBe(1);
  });

  test('prefers the weight of an override', () => {
    const overrides = { PerUser: { a: { burst: 1, count: 1, period: '1s', borrow: { weight: 0.1 } } } } as const;
    const { spend } = started({ borrow: { ...fair.borrow, weight: 10 }, burst: 1 }, { overrides });
    const lent = Array.from({ length: 8 }, () => spend('a')).filter(({ results }) => results[0]?.borrowed);
    expect(lent.length).toBe(1);
  });

  test('is denied for the own wait when a client has borrowed too much', () => {
    const { spend } = started({ borrow: { ...fair.borrow, weight: 0.01 }, burst: 1 });
    spend();
    spend();
    expect(spend()).toMatchObject({ outcome: 'denied', retryAfterMs: 1000 });
  });

  test('asks for the weight of a client only when its own tokens do not suffice', () => {
    const asked: string[] = [];
    const weight = (id: string): number => asked.push(id);
    const { spend, time } = started({ borrow: { ...fair.borrow, weight }, burst: 1 });
    for (let i = 0; i < 2; i++) spend();
    time.advance(1000);
    expect(spend().results[0]).toMatchObject({ allowed: true, borrowed: false });
    expect(asked).toEqual([]);
    expect(spend().results[0]).toMatchObject({ borrowed: true });
    expect(asked).toEqual(['a']);
  });

  test.each([
    [() => 0, 'must be a number above 0'],
    // It would be an unhandled rejection.
    [() => Promise.reject(new Error('no database')) as unknown as number, 'must be a number above 0'],
    [
      () => {
        throw new Error('no plan');
      },
      'no plan',
    ],
  ])('uses the weight 1, with an event, when the weight function fails', (weight, reason) => {
    const { spend, events } = started({ borrow: { ...fair.borrow, weight }, burst: 1 });
    for (let i = 0; i < 3; i++) expect(spend().allowed).toBe(true);
    expect(events).toMatchObject([
      { type: 'callback-failed', callback: 'weight', message: expect.stringContaining(reason) },
    ]);
  });
});

describe('a raise of a limit that borrows', () => {
  const slow: LimitNumbers = { burst: 2, count: 2, period: '1h' };
  const quick: LimitNumbers = { burst: 2, count: 2, period: '1s' };
  const set = (own: LimitNumbers) => ({
    limits: {
      PerUser: { key: accountId(), ...own, borrow: { from: 'Pool', ceiling: own, fair: false } },
      Pool: { key: everyone(), count: 9, period: '1s' },
    },
    overrides: { PerUser: { vip: { ...own, borrow: { ceiling: own } } } },
  });

  test.each(['7', 'vip'])('takes effect at once, also on the debt of the ceiling of %s', (id) => {
    const time = new FakeTime();
    const limiter = createLimiter({ ...set(slow), store: memoryStore({ time }), time, log: false });
    const spend = () => atOnce(limiter.spend([{ limit: 'PerUser', id, cost: 2 }]));
    spend();
    expect(spend()).toMatchObject({ outcome: 'denied', retryAfterMs: 3_600_000 });
    limiter.replace(set(quick));
    expect(spend()).toMatchObject({ outcome: 'denied', retryAfterMs: 1000 });
    time.advance(1000);
    expect(spend().allowed).toBe(true);
  });
});

describe('while the store can not answer', () => {
  const limits = (onFailure: 'local' | 'open' | 'closed') => ({
    PerUser: {
      key: accountId(),
      burst: 4,
      count: 4,
      period: '100s',
      onFailure,
      borrow: { from: 'Pool', ceiling: { burst: 8, count: 8, period: '100s' }, fair: false, tenants: 2 },
    },
    // Its own policy does not count where others borrow from it.
    Pool: { key: everyone(), burst: 12, count: 12, period: '100s', onFailure: 'closed' as const },
  });

  function failing(onFailure: 'local' | 'open' | 'closed') {
    const time = new FakeTime();
    const working = memoryStore({ time });
    const down = (): never => {
      throw new Error('down');
    };
    const store: Store = {
      ...working,
      traits: {},
      spend: down,
      spendFirst: down,
      check: down,
      charge: down,
      refund: down,
      reset: down,
      close: () => undefined,
    };
    const failure = { gateways: 2 };
    const limiter = createLimiter({ limits: limits(onFailure), store, failure, time, log: false });
    const spend = async (id = 'a', cost = 1) => limiter.spend([{ limit: 'PerUser', id, cost }]);
    return { limiter, spend, time };
  }

  test('local: this process lends its part of the pool, above its part of what is assured', async () => {
    const { limiter, spend } = failing('local');
    const outcomes = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (let i = 0; i < 5; i++) outcomes.push((await spend()).results[0]);
    expect(outcomes.map((result) => [result?.allowed, result?.borrowed])).toEqual([
      [true, false],
      [true, false],
      [true, true],
      [true, true],
      [false, false],
    ]);
    expect(outcomes[0]).toMatchObject({ burst: 2 });
    expect((await spend('b', 2)).results[0]).toMatchObject({ allowed: true, borrowed: false });
    // The local pool is empty; b and c have their own tokens.
    expect((await spend('b')).outcome).toBe('denied');
    expect((await spend('c', 2)).results[0]).toMatchObject({ allowed: true, borrowed: false });
    const decision = await spend('d');
    expect(await limiter.refund(decision)).toMatchObject([{ limit: 'PerUser', remaining: 2 }]);
    expect(await limiter.charge([{ limit: 'PerUser', id: 'd', cost: 1 }])).toMatchObject([{ remaining: 1 }]);
  });

  test('open: every request passes, and nothing is counted', async () => {
    const { spend } = failing('open');
    for (let i = 0; i < 20; i++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect(await spend()).toMatchObject({ outcome: 'allowed', failure: { policy: 'open' }, results: [] });
    }
  });

  test('closed: no request passes', async () => {
    expect(await failing('closed').spend()).toMatchObject({ outcome: 'unavailable', failure: { policy: 'closed' } });
  });
});

test('a quota, a share and a limit that borrows in one batch take all or nothing', () => {
  const time = new FakeTime();
  const limits = {
    PerUser: {
      key: accountId(),
      count: 1,
      period: '1h',
      borrow: { from: 'Pool', ceiling: { count: 4, period: '1h' }, fair: false },
    },
    Pool: { key: everyone(), count: 4, period: '1h' },
    Monthly: { key: accountId(), count: 3, per: 'month' },
    Fleet: { key: accountId(), count: 4, period: '1h' },
  } as const;
  const limiter = createLimiter({ limits, time, log: false });
  const spend = () =>
    atOnce(
      limiter.spend([
        { limit: 'Monthly', id: 'a' },
        { limit: 'PerUser', id: 'a' },
        { limit: 'Fleet', id: 'all', share: 0.5 },
      ]),
    );
  const left = () =>
    (['Monthly', 'Fleet', 'Pool'] as const).map(
      (limit) =>
        atOnce(limiter.check([{ limit, id: limit === 'Pool' ? 'everyone' : limit === 'Fleet' ? 'all' : 'a', cost: 0 }]))
          .remaining,
    );
  expect(spend().results.map(({ borrowed }) => borrowed)).toEqual([false, false, false]);
  expect(spend().results.map(({ borrowed }) => borrowed)).toEqual([false, true, false]);
  expect(left()).toEqual([1, 2, 2]);
  expect(spend()).toMatchObject({ outcome: 'denied', limit: 'Fleet' });
  expect(left()).toEqual([1, 2, 2]);
});

import { memoryStore, type SpendEntry } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { thrown } from '../../support/thrown.ts';
import { started } from './borrowing.ts';

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

  test('has one result, which describes its own bucket', () => {
    const { spend } = started();
    const decision = spend('a', { cost: 2 });
    expect(decision).toMatchObject({ limit: 'PerUser', id: 'a', remaining: 0, resetAfterMs: 2000 });
    const borrowed = spend('a', { cost: 2 });
    expect(borrowed.results).toEqual([
      {
        limit: 'PerUser',
        kind: 'rate',
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
    void limiter.charge([{ limit: 'Pool', id: 'everyone', cost: 6 }]);
    expect(spend('a').results[0]).toMatchObject({ allowed: true, borrowed: false });
    expect(spend('a').outcome).toBe('allowed');
    expect(levels().pool).toBe(8);
    expect(spend('a').outcome).toBe('denied');
  });

  test('may take the pool to D below empty, which is paid back over time', () => {
    const { limiter, time, spend, levels } = started({ borrow: { tenants: 4 } });
    void limiter.charge([{ limit: 'Pool', id: 'everyone', cost: 6 }]);
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
      limiter.spendSync([
        { limit: 'PerUser', id: 'a' },
        { limit: 'Other', id: 'a', cost: other },
      ]);
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

  test('is denied by its ceiling, although its own bucket has a token', () => {
    const { spend, time } = started({ borrow: { ceiling: { burst: 2, count: 1, period: '1s' } } });
    spend('a', { cost: 1 });
    spend('a', { cost: 1 });
    time.advance(999);
    expect(spend('a')).toMatchObject({ outcome: 'denied', retryAfterMs: 1 });
  });

  test('changes no bucket in a check, which decides like a spend', async () => {
    const { limiter, spend, levels } = started();
    spend('a', { cost: 2 });
    const before = levels();
    const checked = limiter.checkSync([{ limit: 'PerUser', id: 'a' }]);
    expect(checked.results).toMatchObject([{ allowed: true, borrowed: true, spent: 0, cost: 1 }]);
    expect(levels()).toEqual(before);
    expect(await limiter.refund(checked)).toEqual([]);
  });

  test('is part of a batch that takes from all or none', () => {
    const { limiter, spend, levels, left } = started();
    const both = (cost: number) =>
      limiter.spendSync([
        { limit: 'Other', id: 'a', cost },
        { limit: 'PerUser', id: 'a' },
      ]);
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
    expect(thrown(() => limiter.spendSync([{ limit: 'PerUser', id: 'a', cost: 3 }])).code).toBe('ERR_COST_OVER_BURST');
  });

  test('reports unlimited and blocked ids as any limit does', () => {
    const { spend, pool } = started({}, { overrides: { PerUser: { vip: 'unlimited', bad: 'blocked' } } });
    expect(spend('vip')).toMatchObject({ outcome: 'allowed', limit: null });
    expect(spend('bad')).toMatchObject({ outcome: 'denied', blocked: true });
    expect(pool()).toBe(6);
  });

  test('applies a share to its own bucket and to the pool', () => {
    const { limiter, spend } = started();
    const low = (id: string) => limiter.spendSync([{ limit: 'PerUser', id, share: 0.5 }]).results;
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

/** A clock that advances at each reading. */
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

  test('are taken, and are not reported as borrowed', async () => {
    const { limiter, decision, time } = between();
    expect(decision.results).toMatchObject([{ allowed: true, borrowed: false, spent: 1, remaining: 0 }]);
    time.stepMs = 0;
    expect(await limiter.refund(decision)).toMatchObject([{ limit: 'PerUser', remaining: 1 }]);
  });

  test('do not matter if they are not enough', () => {
    const { decision } = between({ cost: 2 });
    expect(decision.results).toMatchObject([{ allowed: true, borrowed: true, spent: 2, remaining: 1 }]);
  });
});

import { describe, expect, test } from 'vitest';
import { thrown } from '../../support/thrown.ts';
import { started } from './borrowing.ts';

describe('modes and other calls of a limit that borrows', () => {
  test('check-only takes nothing, and passes with own tokens or those of the pool', () => {
    const { spend, levels, limiter } = started();
    const look = () => spend('a', { mode: 'check-only' }).results[0];
    expect(look()).toMatchObject({ mode: 'check-only', allowed: true, borrowed: false, cost: 1, spent: 0 });
    expect(levels()).toEqual({ own: 0, ceiling: 0, pool: 0 });
    spend('a', { cost: 2 });
    expect(look()).toMatchObject({ mode: 'check-only', allowed: true, borrowed: true, cost: 1, spent: 0 });
    expect(levels()).toEqual({ own: 2, ceiling: 2, pool: 2 });
    void limiter.charge([{ limit: 'Pool', id: 'everyone', cost: 6 }]);
    expect(look()).toMatchObject({ mode: 'check-only', allowed: false, borrowed: false, retryAfterMs: 250 });
  });

  test('spend-only is rejected, also when a middleware would be made', () => {
    const { limiter } = started();
    const { code, message } = thrown(() => limiter.spendSync([{ limit: 'PerUser', id: 'a', mode: 'spend-only' }]));
    expect([code, message]).toEqual([
      'ERR_OPTION',
      "`mode` of limit \"PerUser\" must be 'check-and-spend', 'check-only' or 'charge', because the limit borrows, but " +
        "was 'spend-only'. To count without denying use mode: 'charge', or `shadow: true` of the middleware.",
    ]);
  });

  test('charge takes from all three buckets: at most what is left of its own and of the ceiling, and of the pool down to D below empty', async () => {
    const { limiter, levels, spend } = started();
    expect(spend('a', { mode: 'charge', cost: 2 }).results[0]).toMatchObject({
      spent: 2,
      allowed: true,
      borrowed: false,
    });
    expect(spend('a', { mode: 'charge', cost: 2 }).results[0]).toMatchObject({ spent: 2, allowed: true, remaining: 0 });
    expect(levels()).toEqual({ own: 2, ceiling: 4, pool: 4 });
    const states = await limiter.charge([{ limit: 'PerUser', id: 'a', cost: 90 }]);
    expect(states).toMatchObject([{ limit: 'PerUser', id: 'a', remaining: 0 }]);
    expect(levels()).toEqual({ own: 2, ceiling: 5, pool: 14 });
  });

  test('tokens that are charged after the fact are not lent to others', () => {
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
      void limiter.charge([{ limit: 'PerUser', id: 'a' }]);
      used++;
    }
    // The rate, the burst, and the assured bursts.
    expect(used).toBeLessThanOrEqual(4 * 60 + 6 + 3);
  });

  test('the ceiling is in debt too, so that the pool does not lend to a client in debt', () => {
    const { limiter, spend, levels, time } = started({ maxDebt: 100, borrow: { tenants: 4 } });
    void limiter.charge([{ limit: 'PerUser', id: 'a', cost: 200 }]);
    expect(levels()).toEqual({ own: 102, ceiling: 105, pool: 200 });
    time.advance(50_000);
    expect(spend()).toMatchObject({ outcome: 'denied', retryAfterMs: 500 });
    time.advance(500);
    expect(spend().results[0]).toMatchObject({ allowed: true, borrowed: true });
  });

  test('D includes the maxDebt of listed overrides, their own or that of the limit', async () => {
    const numbers = { burst: 2, count: 1, period: '1s' };
    const overrides = { PerUser: { a: numbers, b: { ...numbers, maxDebt: 7 } } };
    const { limiter, levels } = started({ maxDebt: 100, borrow: { tenants: 1 } }, { overrides });
    void limiter.charge([{ limit: 'Pool', id: 'everyone', cost: 6 }]);
    for (const id of ['a', 'b', 'c', 'd']) await limiter.charge([{ limit: 'PerUser', id, cost: 102 }]);
    expect(levels().pool).toBe(6 + 102 + 9 + 102);
  });

  test('charge and refund of several ids change the pool by the sum', async () => {
    const { limiter, levels, pool } = started();
    const entries = [
      { limit: 'PerUser', id: 'a', cost: 2 },
      { limit: 'Pool', id: 'everyone', cost: 1 },
      { limit: 'PerUser', id: 'b', cost: 1 },
    ] as const;
    const states = await limiter.charge(entries);
    expect(states.map(({ limit, remaining }) => [limit, remaining])).toEqual([
      ['PerUser', 0],
      ['Pool', 2],
      ['PerUser', 1],
    ]);
    expect(levels('a')).toEqual({ own: 2, ceiling: 2, pool: 4 });
    expect((await limiter.refund(entries)).map(({ remaining }) => remaining)).toEqual([2, 6, 2]);
    expect([levels('a'), levels('b'), pool()]).toEqual([
      { own: 0, ceiling: 0, pool: 0 },
      { own: 0, ceiling: 0, pool: 0 },
      6,
    ]);
  });

  test('reset fills the own bucket and the ceiling, not the pool', () => {
    const { limiter, levels, spend } = started();
    for (const cost of [2, 2]) spend('a', { cost });
    void limiter.reset([{ limit: 'PerUser', id: 'a' }]);
    expect(levels()).toEqual({ own: 0, ceiling: 0, pool: 4 });
    void limiter.reset([{ limit: 'Pool', id: 'everyone' }]);
    expect(levels().pool).toBe(0);
  });

  test('a refund of a decision gives back exactly what it took from each bucket, once', async () => {
    const { limiter, levels, spend } = started();
    const assured = spend('a', { cost: 2 });
    const borrowed = spend('a', { cost: 2 });
    expect(levels()).toEqual({ own: 2, ceiling: 4, pool: 4 });
    // Its own bucket stays as it is.
    expect(await limiter.refund(borrowed)).toEqual([]);
    expect(levels()).toEqual({ own: 2, ceiling: 2, pool: 2 });
    void limiter.refund(borrowed);
    expect(await limiter.refund(assured)).toMatchObject([{ limit: 'PerUser', remaining: 2 }]);
    expect(levels()).toEqual({ own: 0, ceiling: 0, pool: 0 });
    const denied = spend('a', { cost: 2 }) && spend('a', { cost: 2 }) && spend('a', { cost: 2 });
    expect(denied.outcome).toBe('denied');
    expect(await limiter.refund(denied)).toEqual([]);
  });

  test('a refund of a charge that the pool took in part gives back that part', () => {
    const { limiter, levels, spend } = started();
    void limiter.charge([{ limit: 'PerUser', id: 'b', cost: 13 }]);
    const charged = spend('a', { mode: 'charge', cost: 2 });
    expect(levels()).toEqual({ own: 2, ceiling: 2, pool: 14 });
    void limiter.refund(charged);
    expect(levels()).toEqual({ own: 0, ceiling: 0, pool: 13 });
  });
});

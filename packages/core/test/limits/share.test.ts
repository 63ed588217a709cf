import type { Decision, SpendEntry } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { rejected, thrown } from '../support/thrown.ts';

const numbers = { Fleet: { count: 10, period: '10s' }, Reads: { count: 10, period: '10s' } };

const fleet = (share?: number, more: Partial<SpendEntry> = {}): SpendEntry => ({
  limit: 'Fleet',
  id: '7',
  share,
  ...more,
});

function started(...options: Parameters<typeof limiterOnFakeTime> | []) {
  const made = limiterOnFakeTime(options[0] ?? numbers, options[1]);
  const spend = (...entries: SpendEntry[]): Decision => made.limiter.spendSync(entries);
  const check = (...entries: SpendEntry[]): Decision => made.limiter.checkSync(entries);
  return { ...made, spend, check };
}

describe('an entry with a share', () => {
  test('fills its share of the bucket, and leaves the rest to others', () => {
    const { spend } = started();
    expect(spend(fleet(0.8, { cost: 8 }))).toMatchObject({ allowed: true, remaining: 0 });
    expect(spend(fleet(0.8)).allowed).toBe(false);
    expect(spend(fleet(undefined, { cost: 2 }))).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('reports what its share has left, and when its cost fits into it', () => {
    const { spend, check, time } = started();
    expect(check(fleet(0.8)).remaining).toBe(8);
    expect(check(fleet(1)).remaining).toBe(10);
    expect(spend(fleet(0.8, { cost: 5 }))).toMatchObject({ remaining: 3, retryAfterMs: 0, resetAfterMs: 5000 });
    expect(spend(fleet(0.8, { cost: 4 }))).toMatchObject({ allowed: false, remaining: 3, retryAfterMs: 1000 });
    expect(spend(fleet(1, { cost: 5 }))).toMatchObject({ allowed: true, remaining: 0, results: [{ burst: 10 }] });
    const { retryAfterMs } = spend(fleet(0.8));
    expect(retryAfterMs).toBe(3000);
    time.advance(retryAfterMs - 0.001);
    expect(spend(fleet(0.8))).toMatchObject({ allowed: false, retryAfterMs: 0.001 });
    time.advance(0.001);
    expect(spend(fleet(0.8)).allowed).toBe(true);
  });

  test('has no less than the written share: 0.29 of 100 tokens is 29', () => {
    const { spend } = started({ Fleet: { count: 100, period: '7s' } });
    expect(0.29 * 100).toBeLessThan(29);
    expect(spend(fleet(0.29, { cost: 29 })).allowed).toBe(true);
    expect(spend(fleet(0.29)).allowed).toBe(false);
  });

  test('may have room for a part of a token, which counts once it is whole', () => {
    const { spend, time } = started({ Fleet: { count: 3, period: '3s' } });
    expect(spend(fleet(0.5))).toMatchObject({ allowed: true, remaining: 0 });
    time.advance(499.999);
    expect(spend(fleet(0.5))).toMatchObject({ allowed: false, retryAfterMs: 0.001 });
    time.advance(0.001);
    expect(spend(fleet(0.5)).allowed).toBe(true);
  });

  test('that is denied takes nothing, here and beside it', () => {
    const { spend, check } = started();
    spend(fleet(0.8, { cost: 8 }));
    const reads = { limit: 'Reads', id: '7' };
    expect(spend(reads, fleet(0.8))).toMatchObject({ allowed: false, limit: 'Fleet', results: [{ spent: 0 }, {}] });
    expect(check(reads).remaining).toBe(10);
    expect(check(fleet()).remaining).toBe(2);
  });

  test('is the strictest where its room is', () => {
    const { spend } = started();
    expect(spend({ limit: 'Reads', id: '7' }, fleet(0.3))).toMatchObject({ limit: 'Fleet', remaining: 2 });
    const denied = spend({ limit: 'Reads', id: '7', cost: 10 }, fleet(0.3, { cost: 3 }));
    // The waits are equal, and the share has less left.
    expect(denied).toMatchObject({ allowed: false, limit: 'Fleet', remaining: 2, retryAfterMs: 1000 });
    expect(denied.results).toMatchObject([
      { retryAfterMs: 1000, remaining: 9 },
      { retryAfterMs: 1000, remaining: 2 },
    ]);
  });

  test('with mode spend-only takes its cost if it fits into the share, and with check-only it takes nothing', () => {
    const { spend, check } = started();
    expect(spend(fleet(0.3, { cost: 3, mode: 'check-only' })).remaining).toBe(3);
    expect(spend(fleet(0.3, { cost: 3, mode: 'spend-only' })).results[0]?.spent).toBe(3);
    expect(spend(fleet(0.3, { mode: 'spend-only' }))).toMatchObject({ allowed: true, results: [{ spent: 0 }] });
    expect(spend(fleet(0.3, { mode: 'check-only' })).allowed).toBe(false);
    expect(check(fleet()).remaining).toBe(7);
  });

  test('of cost 0 always passes and reports the state of its share, however small that is', () => {
    const { spend } = started();
    spend(fleet(1, { cost: 9 }));
    expect(spend(fleet(0.8, { cost: 0 }))).toMatchObject({ allowed: true, remaining: 0, resetAfterMs: 9000 });
    expect(spend(fleet(Number.MIN_VALUE, { cost: 0 }))).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('finds no room after a charge, which has no share and may empty the bucket', async () => {
    const { limiter, spend, check } = started();
    expect(await limiter.charge([{ limit: 'Fleet', id: '7', cost: 9 }])).toMatchObject([{ remaining: 1 }]);
    expect(spend(fleet(0.8))).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 2000 });
    expect(check(fleet()).remaining).toBe(1);
  });

  test('is given back by the refund of its decision, which reports the whole bucket', async () => {
    const { limiter, spend, check } = started();
    const decision = spend(fleet(0.8, { cost: 8 }));
    spend(fleet());
    expect(await limiter.refund(decision)).toMatchObject([{ remaining: 9, resetAfterMs: 1000 }]);
    expect(check(fleet(0.8)).remaining).toBe(7);
  });

  test('decides among alternatives: the first in which all shares have room', () => {
    const { limiter, check } = started();
    const firstOf = [[fleet(0.3, { cost: 2 })], [{ limit: 'Reads', id: '7', cost: 2, share: 0.5 }]];
    const limits = Array.from({ length: 4 }, () => {
      const { allowed, limit } = limiter.spendSync({ firstOf });
      return `${limit} ${allowed}`;
    });
    // Both have to wait a second; the first is reported.
    expect(limits).toEqual(['Fleet true', 'Reads true', 'Reads true', 'Fleet false']);
    expect(limiter.checkSync({ firstOf })).toMatchObject({ limit: 'Fleet', retryAfterMs: 1000 });
    expect(check(fleet()).remaining).toBe(8);
  });

  test('has its share of the numbers that apply to its id', async () => {
    const overrides = {
      Fleet: { '8': { burst: 20, count: 10, period: '10s' }, free: 'unlimited', bad: 'blocked' },
    } as const;
    const { spend } = started(numbers, { overrides });
    expect(spend(fleet(0.8, { id: '8', cost: 16 }))).toMatchObject({ remaining: 0, results: [{ overridden: true }] });
    expect(spend(fleet(0.8, { id: '8' })).allowed).toBe(false);
    expect(spend(fleet(0.1, { id: 'free', cost: 100 }))).toMatchObject({ allowed: true, limit: null });
    expect(spend(fleet(0.1, { id: 'bad', cost: 100 }))).toMatchObject({ blocked: true, results: [{ remaining: 0 }] });
    const later = started(numbers, { overrides: async () => ({ count: 20, period: '10s' }) }).limiter;
    expect(await later.spend([fleet(0.8, { cost: 16 })])).toMatchObject({ allowed: true, remaining: 0 });
    expect((await rejected(() => later.spend([fleet(0.8, { cost: 17 })]))).code).toBe('ERR_COST_OVER_BURST');
  });
});

describe('a cost above the share', () => {
  const message = (most: number, share: number, cost: number): string =>
    `\`cost\` of limit "Fleet" must be at most ${most}, the whole tokens in a share of ${share} of the burst, 10, but ` +
    `was ${cost}. Such a request could never pass, however long it waits. Raise the share or the burst, or lower the cost.`;

  test.each(['spend', 'check'] as const)('is an error of %s, since it could never pass', async (call) => {
    const { limiter, check } = started();
    expect(await rejected(() => limiter[call]([{ limit: 'Reads', id: '7' }, fleet(0.75, { cost: 8 })]))).toMatchObject({
      code: 'ERR_COST_OVER_BURST',
      status: 400,
      message: message(7, 0.75, 8),
    });
    const firstOf = [[{ limit: 'Reads', id: '7' }], [fleet(0.75, { cost: 11 })]];
    expect((await rejected(() => limiter[call]({ firstOf }))).message).toBe(message(7, 0.75, 11));
    expect(check({ limit: 'Reads', id: '7' }).remaining).toBe(10);
  });

  test('is an error also where the share has no room for a token, or a tick', () => {
    const { spend } = started();
    expect(thrown(() => spend(fleet(0.09))).message).toBe(message(0, 0.09, 1));
    expect(thrown(() => spend(fleet(1e-300))).message).toBe(message(0, 1e-300, 1));
  });
});

describe('a share', () => {
  test.each<[share: unknown, shown: string]>([
    [0, '0'],
    [-0.5, '-0.5'],
    [1.01, '1.01'],
    [80, '80'],
    [Number.NaN, 'NaN'],
    [Infinity, 'Infinity'],
    ['0.8', "'0.8'"],
    ['', "''"],
    [null, 'null'],
    [true, 'true'],
    [1n, '1n'],
    [() => 0.8, '[Function (anonymous)]'],
  ])('must not be %o', async (share, shown) => {
    const { limiter, check } = started();
    for (const call of ['spend', 'check'] as const) {
      expect(await rejected(() => limiter[call]([fleet(share as number)]))).toMatchObject({
        code: 'ERR_OPTION',
        status: 500,
        message:
          `\`share\` of limit "Fleet" must be a number above 0, at most 1, but was ${shown}. For example share: 0.8 for a ` +
          'request that may fill 80 % of the bucket. For the whole bucket, leave it out.',
      });
    }
    expect(check(fleet()).remaining).toBe(10);
  });

  test('is left out where the mode is charge, unless it is 1', () => {
    const { spend } = started();
    expect(thrown(() => spend(fleet(0.8, { mode: 'charge' })))).toMatchObject({
      code: 'ERR_OPTION',
      message:
        '`share` of limit "Fleet" must be left out with mode \'charge\', but was 0.8. A charge takes its cost whether it ' +
        'fits or not. For a cost that has to fit, use another mode.',
    });
    expect(spend(fleet(1, { mode: 'charge', cost: 10 })).results[0]?.spent).toBe(10);
  });

  test.each(['charge', 'refund', 'reset'] as const)('is not an option of %s', async (call) => {
    const { limiter } = started();
    expect(await rejected(() => limiter[call]([{ limit: 'Fleet', id: '7', share: 0.8 } as never]))).toMatchObject({
      code: 'ERR_UNKNOWN_OPTION',
      message: expect.stringContaining('`share` belongs to spend and check: it limits what a decision may take.'),
    });
  });
});

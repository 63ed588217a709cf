import type { CostEntry, SpendEntry } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { batchOf } from '../../src/decision/batch.ts';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { rejected, thrown } from '../support/thrown.ts';

const numbers = { Orders: { count: 5, period: '1s' }, Reads: { count: 5, period: '1s' } };

const orders = (cost: unknown): CostEntry[] => [{ limit: 'Orders', id: '7', cost: cost as number }];

const WHOLE_TOKENS = 'Costs are tokens. For smaller costs, multiply burst, count and all costs by the same number.';

describe('a cost', () => {
  test('is 1 unless given', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(limiter.spendSync([{ limit: 'Orders', id: '7' }]).results[0]).toMatchObject({ cost: 1, spent: 1 });
    expect(limiter.spendSync(orders(undefined)).remaining).toBe(3);
  });

  test('of 0 always passes, takes nothing and reports the state', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(limiter.spendSync(orders(0))).toMatchObject({ allowed: true, remaining: 5, resetAfterMs: 0 });
    limiter.spendSync(orders(5));
    expect(limiter.spendSync(orders(0))).toMatchObject({
      allowed: true,
      remaining: 0,
      retryAfterMs: 0,
      resetAfterMs: 1000,
      results: [{ cost: 0, spent: 0 }],
    });
  });

  test('that is the burst passes a full bucket, and then not before it is full again', () => {
    const { limiter, time } = limiterOnFakeTime(numbers);
    expect(limiter.spendSync(orders(5))).toMatchObject({ allowed: true, remaining: 0 });
    time.advance(999.999);
    expect(limiter.spendSync(orders(5))).toMatchObject({ allowed: false, retryAfterMs: 0.001 });
    time.advance(0.001);
    expect(limiter.spendSync(orders(5)).allowed).toBe(true);
  });

  test.each(['spend', 'check'] as const)(
    'above the burst is an error of %s, since it could never pass',
    async (call) => {
      const { limiter } = limiterOnFakeTime(numbers);
      const entries = [{ limit: 'Reads', id: '7' }, ...orders(6)];
      expect(await rejected(() => limiter[call](entries))).toMatchObject({
        code: 'ERR_COST_OVER_BURST',
        status: 400,
        message:
          '`cost` of limit "Orders" must be at most the burst, 5, but was 6. ' +
          'Such a request could never pass, however long it waits. Raise the burst or lower the cost.',
      });
      expect(limiter.checkSync([{ limit: 'Reads', id: '7' }]).remaining).toBe(5);
    },
  );

  test('above the burst is an error in each mode', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    for (const mode of ['check-and-spend', 'check-only', 'spend-only'] as const) {
      expect(thrown(() => limiter.spendSync([{ limit: 'Orders', id: '7', cost: 6, mode }])).code).toBe(
        'ERR_COST_OVER_BURST',
      );
    }
  });

  describe.each(['spend', 'check', 'charge', 'refund'] as const)('of %s', (call) => {
    test.each<[cost: unknown, shown: string, remedy?: string]>([
      [-1, '-1'],
      [0.5, '0.5'],
      [Number.NaN, 'NaN'],
      [Infinity, 'Infinity'],
      [2 ** 53, '9007199254740992'],
      ['1', "'1'", 'Write cost: 1.'],
      ['1000000000000', "'1000000000000'", 'Write cost: 1000000000000.'],
      [1n, '1n', 'Write cost: 1.'],
      [null, 'null'],
      [[1], '[ 1 ]'],
    ])('must not be %o', async (cost, shown, remedy = WHOLE_TOKENS) => {
      const { limiter } = limiterOnFakeTime(numbers);
      expect(await rejected(() => limiter[call](orders(cost)))).toMatchObject({
        code: 'ERR_COST',
        status: 500,
        message: `\`cost\` of limit "Orders" must be a whole number from 0 up, but was ${shown}. ${remedy}`,
      });
      expect(limiter.checkSync(orders(0)).remaining).toBe(5);
    });
  });
});

describe('one bucket twice in a batch', () => {
  const twice = [
    { limit: 'Orders', id: '7' },
    { limit: 'Reads', id: '7' },
    { limit: 'Orders', id: '7' },
  ];

  test.each(['spend', 'check', 'charge', 'refund', 'reset'] as const)('is an error of %s', async (call) => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(await rejected(() => limiter[call](twice))).toMatchObject({
      code: 'ERR_DUPLICATE_BUCKET',
      status: 500,
      message: `The batch names the id '7' of limit "Orders" twice. Name it once, with the sum of the costs.`,
    });
    expect(limiter.checkSync([{ limit: 'Reads', id: '7' }]).remaining).toBe(5);
  });

  test('is an error also when overrides have to be waited for', async () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides: () => Promise.resolve(undefined) });
    expect((await rejected(() => limiter.spend(twice))).code).toBe('ERR_DUPLICATE_BUCKET');
  });

  test.each([16, 17, 1000])('is an error among %i, at any position', async (count) => {
    const { limiter } = limiterOnFakeTime(numbers);
    const distinct = Array.from({ length: count - 1 }, (_, i) => ({ limit: 'Orders', id: String(i) }));
    for (const [again, at] of [
      [0, count - 1],
      [count - 2, 0],
      [3, 4],
    ] as const) {
      const error = await rejected(() =>
        limiter.reset(distinct.toSpliced(at, 0, { limit: 'Orders', id: String(again) })),
      );
      expect(error.message).toContain(`the id '${again}' of limit "Orders" twice`);
    }
    expect(await limiter.reset(distinct)).toBeUndefined();
    expect(await limiter.reset([...distinct, { limit: 'Reads', id: '0' }])).toBeUndefined();
  });

  test('is looked for in a time that grows with the batch, not with its square', () => {
    let looks = 0;
    const buckets = Array.from({ length: 10_000 }, (_, i) => ({
      limit: 'Orders',
      get id(): string {
        looks++;
        return String(i);
      },
    }));
    expect(batchOf(buckets)).toBe(buckets);
    expect(looks).toBeLessThanOrEqual(20_000);
  });

  test('is not assumed when the id or the limit differs', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const others = [...twice.slice(0, 2), { limit: 'Orders', id: '8' }];
    expect(limiter.spendSync(others).results).toHaveLength(3);
  });
});

describe('a batch', () => {
  const both: SpendEntry[] = [
    { limit: 'Orders', id: '7', cost: 2 },
    { limit: 'Reads', id: '7', cost: 3 },
  ];

  test('takes from all its buckets', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(limiter.spendSync(both).results.map(({ spent, remaining }) => [spent, remaining])).toEqual([
      [2, 3],
      [3, 2],
    ]);
  });

  test('takes from no bucket if one denies, not even spend-only', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    limiter.spendSync(both);
    const denied = limiter.spendSync([...both, { limit: 'Orders', id: '8', mode: 'spend-only' }]);
    expect(denied.outcome).toBe('denied');
    expect(denied.results.map(({ allowed, spent, remaining }) => [allowed, spent, remaining])).toEqual([
      [true, 0, 3],
      [false, 0, 2],
      [true, 0, 5],
    ]);
    const after = limiter.checkSync([...both.map((entry) => ({ ...entry, cost: 0 })), { limit: 'Orders', id: '8' }]);
    expect(after.results.map(({ remaining }) => remaining)).toEqual([3, 2, 5]);
  });

  test('that is empty is allowed and reports no limit', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    for (const decision of [limiter.spendSync([]), limiter.checkSync([])]) {
      expect(decision).toMatchObject({ outcome: 'allowed', limit: null, id: null, remaining: Infinity, results: [] });
    }
    expect(await Promise.all([limiter.charge([]), limiter.refund([])])).toEqual([[], []]);
    expect(await limiter.reset([])).toBeUndefined();
  });

  test('of spend-only alone is allowed and reports its first', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    const spendOnly = both.map((entry) => ({ ...entry, mode: 'spend-only' as const }));
    limiter.spendSync(spendOnly);
    expect(limiter.spendSync(spendOnly)).toMatchObject({ outcome: 'allowed', limit: 'Orders', remaining: 1 });
  });

  test.each(['spend', 'check', 'charge', 'reset'] as const)('for %s is an array', async (call) => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(await rejected(() => limiter[call]({ limit: 'Orders', id: '7' } as never))).toMatchObject({
      code: 'ERR_OPTION',
      message:
        "`entries` must be an array, but was { limit: 'Orders', id: '7' }. " +
        "For example [{ limit: 'Orders', id: '12345678', cost: 1 }].",
    });
  });
});

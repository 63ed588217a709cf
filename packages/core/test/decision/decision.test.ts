import type { CostEntry, Decision, SpendEntry } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { strictestDecision } from '../../src/decision/strictness.ts';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';

// One token takes a second in each of them.
const numbers = {
  Small: { burst: 2, count: 1, period: '1s' },
  Big: { burst: 10, count: 1, period: '1s' },
  Slow: { burst: 2, count: 1, period: '1m' },
  Same: { burst: 2, count: 1, period: '1s' },
};

type Cost = readonly [limit: keyof typeof numbers, cost: number, mode?: SpendEntry['mode']];
const entries = (costs: readonly Cost[]): SpendEntry[] =>
  costs.map(([limit, cost, mode]) => ({ limit, id: '7', cost, mode }));

const charges = (costs: readonly Cost[]): CostEntry[] => costs.map(([limit, cost]) => ({ limit, id: '7', cost }));

/** Takes `before` and then decides `asked`. */
async function decide(before: readonly Cost[], asked: readonly Cost[]): Promise<Decision> {
  const { limiter } = limiterOnFakeTime(numbers);
  for (const cost of before) await limiter.charge(charges([cost]));
  return limiter.spendSync(entries(asked));
}

describe('a decision reports the strictest of its transactions:', () => {
  const cases: { why: string; before: Cost[]; asked: Cost[]; limit: string; figures: Partial<Decision> }[] = [
    {
      why: 'a denied one before an allowed one with fewer tokens and a longer wait',
      before: [
        ['Small', 2],
        ['Slow', 1],
      ],
      asked: [
        ['Slow', 1],
        ['Small', 1],
      ],
      limit: 'Small',
      figures: { outcome: 'denied', retryAfterMs: 1000, remaining: 0 },
    },
    {
      why: 'of denied ones the one with the longer wait',
      before: [
        ['Small', 2],
        ['Slow', 2],
      ],
      asked: [
        ['Small', 1],
        ['Slow', 1],
      ],
      limit: 'Slow',
      figures: { outcome: 'denied', retryAfterMs: 60_000, resetAfterMs: 120_000 },
    },
    {
      why: 'of allowed ones the one that would pass again last',
      before: [],
      asked: [
        ['Small', 2],
        ['Slow', 2],
        ['Big', 1],
      ],
      limit: 'Slow',
      figures: { outcome: 'allowed', retryAfterMs: 0, resetAfterMs: 120_000 },
    },
    {
      why: 'also when another one has fewer tokens left',
      before: [['Slow', 1]],
      asked: [
        ['Slow', 0],
        ['Big', 6],
      ],
      limit: 'Big',
      figures: { outcome: 'allowed', remaining: 4 },
    },
    {
      why: 'of those that wait equally long the one with fewer tokens',
      before: [],
      asked: [
        ['Big', 1],
        ['Small', 1],
      ],
      limit: 'Small',
      figures: { remaining: 1 },
    },
    {
      why: 'of equals the first',
      before: [],
      asked: [
        ['Same', 1],
        ['Small', 1],
      ],
      limit: 'Same',
      figures: {},
    },
    {
      why: 'of equals the first, denied as well',
      before: [
        ['Small', 2],
        ['Same', 2],
      ],
      asked: [
        ['Small', 1],
        ['Same', 1],
      ],
      limit: 'Small',
      figures: {},
    },
    {
      why: 'one that only checks counts',
      before: [['Small', 2]],
      asked: [
        ['Big', 1],
        ['Small', 1, 'check-only'],
      ],
      limit: 'Small',
      figures: { outcome: 'denied' },
    },
    {
      why: 'one that only spends does not',
      before: [['Small', 2]],
      asked: [
        ['Small', 1, 'spend-only'],
        ['Big', 1],
      ],
      limit: 'Big',
      figures: { outcome: 'allowed', remaining: 9 },
    },
  ];

  test.each(cases)('$why', async ({ before, asked, limit, figures }) => {
    const decision = await decide(before, asked);
    expect(decision).toMatchObject({ limit, id: '7', ...figures });
    const result = decision.results.find((each) => each.limit === limit);
    const { remaining, retryAfterMs, resetAfterMs } = decision;
    expect(result).toMatchObject({ remaining, retryAfterMs, resetAfterMs });
  });
});

test('a denial is never hidden by an allowed check with a longer wait', async () => {
  const decision = await decide(
    [['Small', 2]],
    [
      ['Slow', 2, 'check-only'],
      ['Small', 1, 'check-only'],
      ['Big', 10],
    ],
  );
  expect(decision).toMatchObject({ allowed: false, limit: 'Small' });
});

test('a decision has every transaction’s own result, in the order given', async () => {
  const decision = await decide(
    [['Small', 2]],
    [
      ['Big', 3],
      ['Small', 1],
      ['Slow', 1, 'spend-only'],
    ],
  );
  const common = { kind: 'rate', id: '7', count: 1, blocked: false, borrowed: false, overridden: false, hidden: false };
  expect(decision.results).toEqual([
    {
      ...common,
      limit: 'Big',
      cost: 3,
      spent: 0,
      mode: 'check-and-spend',
      allowed: true,
      remaining: 10,
      retryAfterMs: 0,
      resetAfterMs: 0,
      burst: 10,
      periodMs: 1000,
    },
    {
      ...common,
      limit: 'Small',
      cost: 1,
      spent: 0,
      mode: 'check-and-spend',
      allowed: false,
      remaining: 0,
      retryAfterMs: 1000,
      resetAfterMs: 2000,
      burst: 2,
      periodMs: 1000,
    },
    {
      ...common,
      limit: 'Slow',
      cost: 1,
      spent: 0,
      mode: 'spend-only',
      allowed: true,
      remaining: 2,
      retryAfterMs: 0,
      resetAfterMs: 0,
      burst: 2,
      periodMs: 60_000,
    },
  ]);
});

test('a batch passes after the wait of its decision, and not a microsecond sooner', () => {
  const { limiter, time } = limiterOnFakeTime(numbers);
  const asked = entries([
    ['Small', 2],
    ['Slow', 1],
    ['Big', 4],
  ]);
  limiter.spendSync(asked);
  void limiter.charge(charges([['Slow', 1]]));
  const { retryAfterMs } = limiter.spendSync(asked);
  time.advance(retryAfterMs - 0.001);
  expect(limiter.spendSync(asked)).toMatchObject({ allowed: false, retryAfterMs: 0.001 });
  time.advance(0.001);
  expect(limiter.spendSync(asked).allowed).toBe(true);
});

test('decisions of one request are compared as their transactions are', async () => {
  const [allowed, tighter, denied, later] = [
    await decide([], [['Big', 1]]),
    await decide([], [['Small', 2]]),
    await decide([['Small', 2]], [['Small', 1]]),
    await decide([['Slow', 2]], [['Slow', 1]]),
  ];
  const order = [later, denied, tighter, allowed];
  const strictest = order.map((_, i) => strictestDecision(order.slice(i).toReversed()));
  expect(strictest).toEqual(order);
});

test('of equally strict decisions the first stays', async () => {
  const [first, second] = [await decide([], [['Big', 1]]), await decide([], [['Big', 1]])];
  expect(strictestDecision([first, second])).toBe(first);
});

test('a denied decision has no failure to report: the store decided', async () => {
  expect((await decide([['Small', 2]], [['Small', 1]])).failure).toBeUndefined();
});

import { createLimiter, by, type CostEntry, type IdFormat, type SpendEntry } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { rejected, thrown } from '../support/thrown.ts';

const numbers = { Orders: { count: 5, period: '1s' }, Reads: { count: 5, period: '1s' } };

const orders = (cost: unknown): CostEntry[] => [{ limit: 'Orders', id: '7', cost: cost as number }];

describe('the modes', () => {
  const entry = (mode: SpendEntry['mode'], cost = 1): SpendEntry => ({ limit: 'Orders', id: '7', cost, mode });

  test('check-and-spend takes its cost, or denies', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(limiter.spendSync([entry('check-and-spend', 5)]).results).toMatchObject([{ spent: 5, remaining: 0 }]);
    expect(limiter.spendSync([entry('check-and-spend')])).toMatchObject({
      outcome: 'denied',
      allowed: false,
      retryAfterMs: 200,
      results: [{ allowed: false, spent: 0, retryAfterMs: 200 }],
    });
  });

  test('check-only denies as well, and takes nothing', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(limiter.spendSync([entry('check-only', 5)])).toMatchObject({
      allowed: true,
      remaining: 5,
      results: [{ cost: 5, spent: 0, mode: 'check-only' }],
    });
    limiter.spendSync([entry('check-and-spend', 5)]);
    expect(limiter.spendSync([entry('check-only')])).toMatchObject({ outcome: 'denied', retryAfterMs: 200 });
  });

  test('spend-only takes its cost whole or not at all, and never denies', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(limiter.spendSync([entry('spend-only', 3)]).results).toMatchObject([{ spent: 3, remaining: 2 }]);
    expect(limiter.spendSync([entry('spend-only', 3)])).toMatchObject({
      outcome: 'allowed',
      retryAfterMs: 0,
      results: [{ allowed: true, spent: 0, remaining: 2, retryAfterMs: 0 }],
    });
  });

  test('charge takes what is left of its cost, never denies, and gives back only what it took', async () => {
    const { limiter } = limiterOnFakeTime(numbers);
    limiter.spendSync([entry('check-and-spend', 3)]);
    const decision = limiter.spendSync([entry('charge', 4)]);
    expect(decision).toMatchObject({
      outcome: 'allowed',
      retryAfterMs: 0,
      results: [{ allowed: true, cost: 4, spent: 2, remaining: 0 }],
    });
    expect(limiter.spendSync([entry('charge')]).results).toMatchObject([{ allowed: true, spent: 0 }]);
    expect(await limiter.refund(decision)).toMatchObject([{ remaining: 2 }]);
  });

  test('charge takes nothing beside a limit that denies', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    limiter.spendSync([{ limit: 'Reads', id: '7', cost: 5 }]);
    const decision = limiter.spendSync([entry('charge', 2), { limit: 'Reads', id: '7' }]);
    expect(decision).toMatchObject({ outcome: 'denied', limit: 'Reads', results: [{ spent: 0 }, { spent: 0 }] });
  });

  test('there is no other', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    for (const mode of ['peek', null, ''] as never[]) {
      const error = thrown(() => limiter.spendSync([entry(mode)]));
      expect(error.code).toBe('ERR_OPTION');
      expect(error.message).toMatch(
        /^`mode` must be 'check-and-spend', 'check-only', 'spend-only' or 'charge', but was /,
      );
    }
  });
});

describe('an entry', () => {
  describe.each(['spend', 'check', 'charge', 'refund', 'reset'] as const)('of %s', (call) => {
    test.each<[what: string, field: object, code: string, says: string]>([
      [
        'a typo',
        { limits: 'Orders' },
        'ERR_UNKNOWN_OPTION',
        "`limits` (its value was 'Orders'). Did you mean `limit`?",
      ],
      ['the key', { key: '7' }, 'ERR_UNKNOWN_OPTION', '`key` is `id` here.'],
    ])('must not have unknown fields: %s', async (_what, field, code, says) => {
      const { limiter } = limiterOnFakeTime(numbers);
      const entries = [
        { limit: 'Reads', id: '7' },
        { limit: 'Orders', id: '7', ...field },
      ];
      const error = await rejected(() => limiter[call](entries));
      expect(error).toMatchObject({ code, status: 500 });
      expect(error.message).toContain(says);
      expect(limiter.checkSync([{ limit: 'Reads', id: '7' }, ...orders(0)]).results).toMatchObject([
        { remaining: 5 },
        { remaining: 5 },
      ]);
    });

    test.each([[null], [undefined], ['Orders'], [['Orders', '7']], [7]])('must be an object: %o', async (entry) => {
      const { limiter } = limiterOnFakeTime(numbers);
      const error = await rejected(() => limiter[call]([entry as never]));
      expect(error).toMatchObject({ code: 'ERR_OPTION', status: 500 });
      expect(error.message).toMatch(/^`entries\[…\](?: of (?:charge|refund|reset))?` must be an object, but was /);
    });
  });

  test.each(['spend', 'check', 'charge', 'refund'] as const)('of %s has its own names, not others', async (call) => {
    const { limiter } = limiterOnFakeTime(numbers);
    const messageFor = async (field: object): Promise<string> =>
      (await rejected(() => limiter[call]([{ limit: 'Orders', id: '7', ...field }]))).message;
    expect(await messageFor({ points: 4 })).toContain('`points` is `cost` here.');
    expect(await messageFor({ tokens: 4 })).toContain('`tokens` is `cost` here.');
    expect(await messageFor({ key: '7' })).toContain('`key` is `id` here.');
    expect(await messageFor({ name: 'Orders' })).toContain('`name` is `limit` here.');
  });

  test.each<[call: 'charge' | 'refund' | 'reset', field: object, says: string]>([
    [
      'charge',
      { mode: 'check-only' },
      "`entries[…] of charge` has no option `mode` (its value was 'check-only'). `mode` belongs to spend and check: charge takes the cost in any case. Options: limit, id, cost.",
    ],
    [
      'refund',
      { mode: 'check-only' },
      "`entries[…] of refund` has no option `mode` (its value was 'check-only'). `mode` belongs to spend and check: refund gives the cost back in any case. Options: limit, id, cost.",
    ],
    [
      'reset',
      { mode: 'spend-only' },
      "`entries[…] of reset` has no option `mode` (its value was 'spend-only'). `mode` belongs to spend and check: reset makes the bucket full in any case. Options: limit, id.",
    ],
    [
      'reset',
      { cost: 5 },
      '`entries[…] of reset` has no option `cost` (its value was 5). reset makes the whole bucket full: to give some tokens back use refund([{ limit, id, cost }]). Options: limit, id.',
    ],
  ])('of %s takes no option that does nothing there: %o', async (call, field, says) => {
    const { limiter } = limiterOnFakeTime(numbers);
    limiter.spendSync(orders(3));
    const entries = [
      { limit: 'Reads', id: '7' },
      { limit: 'Orders', id: '7', ...field },
    ];
    const error = await rejected(() => limiter[call](entries));
    expect(error).toMatchObject({ code: 'ERR_UNKNOWN_OPTION', status: 500, message: says });
    expect(limiter.checkSync(orders(0)).remaining).toBe(2);
  });
});

describe('an id', () => {
  test.each<[what: string, canonical: unknown]>([
    ['a number', () => 7],
    ['a promise', (text: string) => Promise.resolve(text)],
    ['nothing', () => undefined],
    ['null', () => null],
    ['an empty text', () => ''],
  ])(
    'must not be %s, even if its format returns that: unrelated clients would share a bucket',
    async (_what, canonical) => {
      const format = { name: 'wrong', canonical } as IdFormat;
      const limiter = createLimiter({ limits: { Orders: { key: by(undefined, { format }), count: 5, period: '1s' } } });
      for (const call of ['spend', 'check', 'charge', 'refund', 'reset'] as const) {
        const error = await rejected(() => limiter[call]([{ limit: 'Orders', id: '7' }]));
        expect(error).toMatchObject({ code: 'ERR_ID', status: 500 });
        expect(error.message).toMatch(/^`id` of limit "Orders" must be text that is not empty, but was /);
      }
    },
  );

  test.each([[undefined], [null], [12_345_678], [{}]])('must be a string: %o', async (id) => {
    const { limiter } = limiterOnFakeTime(numbers);
    for (const call of ['spend', 'reset'] as const) {
      const error = await rejected(() => limiter[call]([{ limit: 'Orders', id: id as never }]));
      expect(error).toMatchObject({ code: 'ERR_ID', status: 500 });
      expect(error.message).toMatch(/^`id` of limit "Orders" must be a string, but was /);
    }
  });

  test('must be valid in the format of its limit: otherwise it is the client’s error', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(thrown(() => limiter.spendSync([{ limit: 'Orders', id: '' }]))).toMatchObject({
      code: 'ERR_ID',
      status: 400,
    });
  });
});

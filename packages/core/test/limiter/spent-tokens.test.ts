import { createLimiter, memoryStore, type Decision, type Limiter } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { RequestDecision } from '../../src/http/request-decision.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';
import { rejected } from '../support/thrown.ts';
import { numbers, order, started } from './spending.ts';

describe('the refund of a decision', () => {
  test('gives back what it took from all its buckets, and returns their state', async () => {
    const { spend, remaining, refund } = started();
    const decision = spend(order(3), { limit: 'Reads', id: '7', cost: 2 });
    spend(order(1));
    expect(await refund(decision)).toEqual([
      {
        limit: 'Orders',
        id: '7',
        remaining: 9,
        resetAfterMs: 1000,
        burst: 10,
        count: 1,
        periodMs: 1000,
        overridden: false,
      },
      {
        limit: 'Reads',
        id: '7',
        remaining: 10,
        resetAfterMs: 0,
        burst: 10,
        count: 1,
        periodMs: 1000,
        overridden: false,
      },
    ]);
    expect([remaining(), remaining('Reads')]).toEqual([9, 10]);
  });

  test('gives it back once', async () => {
    const { spend, remaining, refund } = started();
    const decision = spend(order(3));
    spend(order(5));
    await refund(decision);
    expect(await refund(decision)).toEqual([]);
    expect(remaining()).toBe(5);
  });

  test('that is late gives back only tokens that have not refilled by themselves', async () => {
    const { time, spend, remaining, refund } = started();
    const decision = spend(order(3));
    spend(order(6));
    time.advance(2000);
    expect(remaining()).toBe(3);
    await refund(decision);
    expect(remaining()).toBe(4);
  });

  test('that is too late gives back nothing', async () => {
    const { time, spend, remaining, refund } = started();
    const decision = spend(order(3));
    spend(order(6));
    time.advance(3000);
    await refund(decision);
    expect(remaining()).toBe(4);
  });

  test('gives back nothing when the request was denied', async () => {
    const { spend, remaining, refund } = started();
    spend(order(10));
    expect(await refund(spend(order(1)))).toEqual([]);
    expect(remaining()).toBe(0);
  });

  test('gives back nothing when tokens were only checked, or spend-only could not take them', async () => {
    const { limiter, spend, remaining, refund } = started();
    spend(order(8));
    const decisions = [
      spend(order(2, { mode: 'check-only' })),
      spend(order(3, { mode: 'spend-only' })),
      spend(order(0)),
      limiter.checkSync([order(1)]),
    ];
    expect(await Promise.all(decisions.map(refund))).toEqual([[], [], [], []]);
    expect(remaining()).toBe(2);
  });

  test('gives back the tokens that spend-only took', async () => {
    const { spend, remaining, refund } = started();
    await refund(spend(order(3, { mode: 'spend-only' })));
    expect(remaining()).toBe(10);
  });

  test('never fills a bucket beyond full', async () => {
    const { limiter, spend, remaining, refund } = started();
    const decision = spend(order(3));
    void limiter.reset([{ limit: 'Orders', id: '7' }]);
    await refund(decision);
    expect(remaining()).toBe(10);
    expect(limiter.checkSync([order(10)])).toMatchObject({ allowed: true, resetAfterMs: 0 });
  });

  test('after the limit was raised gives back no debt of the new numbers', async () => {
    const { limiter, spend, remaining, refund } = started();
    const decision = spend(order(10));
    limiter.replace({ limits: accountLimits({ Orders: { burst: 100, count: 1, period: '1s' } }) });
    spend(order(90));
    expect(remaining()).toBe(0);
    expect(await refund(decision)).toMatchObject([{ remaining: 0, resetAfterMs: 90_000 }]);
    expect(remaining()).toBe(10);
  });

  test('after the limit was lowered gives back no more than it took', async () => {
    const { limiter, time, spend, remaining, refund } = started();
    const decision = spend(order(4));
    limiter.replace({ limits: accountLimits({ Orders: { burst: 5, count: 2, period: '1s' } }) });
    time.advance(2000);
    expect(remaining()).toBe(1);
    await refund(decision);
    expect(remaining()).toBe(5);
  });

  test('after its limit was removed is harmless', async () => {
    const { limiter, spend, refund } = started();
    const decision = spend(order(4));
    limiter.replace({ limits: {} });
    expect(await refund(decision)).toMatchObject([{ limit: 'Orders', remaining: 10 }]);
  });

  test('of another limiter’s decision is an error with the remedy, and the tokens can still be given back', async () => {
    const [one, other] = [started(), started()];
    const decision = one.spend(order(4));
    const error = await rejected(() => other.refund(decision));
    expect(error.code).toBe('ERR_FOREIGN_DECISION');
    expect(error.message).toBe(
      'This decision was made by another limiter. Only that limiter can give its tokens back: call refund(decision) on it. ' +
        'To give tokens of this limiter to an id, name its bucket: refund([{ limit, id, cost }]).',
    );
    expect(await one.refund(decision)).toMatchObject([{ remaining: 10 }]);
  });

  test.each(['the same store', 'another store'])(
    'remains possible after it was requested from a closed limiter on %s by mistake',
    async (which) => {
      const one = started();
      const store = which === 'the same store' ? one.store : memoryStore();
      const other = createLimiter({ limits: accountLimits({ Others: numbers.Orders }), store });
      const decision = one.spend(order(4));
      void other.close();
      expect((await rejected(() => other.refund(decision))).code).toBe('ERR_FOREIGN_DECISION');
      await one.refund(decision);
      expect(one.remaining()).toBe(10);
    },
  );

  test.each<[what: string, decide: (limiter: Limiter) => Decision]>([
    ['denied', (limiter) => limiter.spendSync([order(0), { limit: 'Reads', id: '7', cost: 10 }])],
    ['only checked', (limiter) => limiter.checkSync([order(1)])],
    ['about no limit', (limiter) => limiter.spendSync([])],
  ])('of another limiter’s decision that was %s is the same error', async (_, decide) => {
    const [one, other] = [started(), started()];
    one.spend({ limit: 'Reads', id: '7', cost: 1 });
    const decision = decide(one.limiter);
    expect((await rejected(() => other.refund(decision))).code).toBe('ERR_FOREIGN_DECISION');
    expect(await one.refund(decision)).toEqual([]);
  });

  test('of a closed limiter is an error', async () => {
    const { limiter, spend, refund } = started();
    const decision = spend(order(4));
    void limiter.close();
    expect((await rejected(() => refund(decision))).code).toBe('ERR_CLOSED');
  });
});

test.each([
  ['the decision on a request', new RequestDecision(), 'RequestDecision'],
  ['a copy of a decision', { outcome: 'allowed', results: [] }, "outcome: 'allowed'"],
  ['nothing', undefined, 'undefined'],
])('refund rejects %s, and the message shows what to write', async (_, what, shown) => {
  const error = await rejected(() => started().limiter.refund(what as never));
  expect(error.code).toBe('ERR_OPTION');
  expect(error.message).toContain(`must be given a decision of spend(), or an array of entries, but was `);
  expect(error.message).toContain(shown);
  expect(error.message).toContain('await req.rateLimit?.refund()');
});

describe('the operator’s refund', () => {
  test('gives back the whole cost at any time, at most to a full bucket', async () => {
    const { limiter, time, spend } = started();
    spend(order(9));
    time.advance(500);
    expect(await limiter.refund([{ limit: 'Orders', id: '7', cost: 3 }])).toMatchObject([
      { limit: 'Orders', id: '7', remaining: 4, resetAfterMs: 5500 },
    ]);
    expect(await limiter.refund([{ limit: 'Orders', id: '7' }])).toMatchObject([{ remaining: 5 }]);
    expect(await limiter.refund([{ limit: 'Orders', id: '7', cost: 1_000_000 }])).toMatchObject([
      { remaining: 10, resetAfterMs: 0 },
    ]);
  });
});

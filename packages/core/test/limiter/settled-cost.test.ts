import type { Decision } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { order, started } from './spending.ts';

describe('a settled cost', () => {
  const settled = async (trueCost: number, before = 4): Promise<number> => {
    const { limiter, spend, remaining } = started();
    const decision = spend(order(before));
    await coreOf(limiter).settleResult(decision, decision.results.at(0)!, { cost: trueCost });
    return remaining();
  };

  test.each([
    { trueCost: 0, left: 10, what: 'gives back everything' },
    { trueCost: 1, left: 9, what: 'gives back the difference' },
    { trueCost: 4, left: 6, what: 'changes nothing when it was right' },
    { trueCost: 6, left: 4, what: 'charges the difference' },
    { trueCost: 100, left: 0, what: 'charges at most to an empty bucket' },
  ])('$trueCost of 4 $what', async ({ trueCost, left }) => expect(await settled(trueCost)).toBe(left));

  test('is charged in full after a check-only', async () => {
    const { limiter, spend, remaining } = started();
    const decision = spend(order(4, { mode: 'check-only' }));
    await coreOf(limiter).settleResult(decision, decision.results.at(0)!, { cost: 3 });
    expect(remaining()).toBe(7);
  });

  test('leaves only the rest for a refund of the decision', async () => {
    const { limiter, spend, remaining, refund } = started();
    spend(order(5));
    const decision = spend(order(4));
    await coreOf(limiter).settleResult(decision, decision.results.at(0)!, { cost: 1 });
    await refund(decision);
    await refund(decision);
    expect(remaining()).toBe(5);
  });

  test('and a refund of the rest together give back at most what had not refilled by itself', async () => {
    const { limiter, time } = limiterOnFakeTime({ Orders: { burst: 20, count: 1, period: '1s' } });
    const spend = (cost: number): Decision => limiter.spendSync([order(cost)]);
    const decision = spend(10);
    time.advance(9000);
    await coreOf(limiter).settleResult(decision, decision.results.at(0)!, { cost: 5 });
    expect(spend(0).remaining).toBe(20);
    spend(1);
    void limiter.refund(decision);
    expect(spend(0).remaining).toBe(19);
  });

  test('takes nothing for a spend-only that did not fit', async () => {
    const { limiter, spend, remaining } = started();
    spend(order(7));
    const decision = spend(order(4, { mode: 'spend-only' }));
    for (const trueCost of [1, 4, 9]) {
      await coreOf(limiter).settleResult(decision, decision.results.at(0)!, { cost: trueCost });
      expect(remaining()).toBe(3);
    }
  });

  test('of a spend-only that fitted is charged and given back like any other', async () => {
    const { limiter, spend, remaining } = started();
    const settle = (decision: Decision, trueCost: number) =>
      coreOf(limiter).settleResult(decision, decision.results.at(0)!, { cost: trueCost });
    await settle(spend(order(4, { mode: 'spend-only' })), 1);
    expect(remaining()).toBe(9);
    await settle(spend(order(4, { mode: 'spend-only' })), 5);
    expect(remaining()).toBe(4);
  });

  test('concerns one limit of the decision', async () => {
    const { limiter, spend, remaining } = started();
    const decision = spend(order(4), { limit: 'Reads', id: '7', cost: 4 });
    await coreOf(limiter).settleResult(decision, decision.results.at(1)!, { cost: 0 });
    expect([remaining(), remaining('Reads')]).toEqual([6, 10]);
  });
});

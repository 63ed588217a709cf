import { budget } from '@sluice/ai';
import { createLimiter, everyone, type Decision, type Limiter, type Store } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import type { FakeTime } from '@sluice/core/testing';
import { wrapLanguageModel } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expect } from 'vitest';

const key = everyone();
const id = 'everyone';

/** A store whose clock a test moves. */
interface SteeredSetup {
  readonly store: Store;
  readonly time: FakeTime;
  /** Moves the clocks of the store and of the limiter. */
  readonly advance: (ms: number) => unknown;
}

interface SettlingCase {
  readonly name: string;
  readonly run: (setup: SteeredSetup) => Promise<void>;
}

const MONEY = { key, count: 10 ** 12, per: 'month' } as const;
const LIMITS = {
  Tokens: { key, burst: 100, count: 1, period: '1s' },
  Debts: { key, burst: 100, count: 1, period: '1s', maxDebt: 50 },
  Month: quota({ key, count: 1000, per: 'month' }),
  Money: quota(MONEY),
  Running: concurrency({ key, concurrency: 1 }),
} as const;

type Name = keyof typeof LIMITS;

/** A limiter, and what is left of a limit: below 0 for a debt. */
function on({ store, time }: SteeredSetup) {
  const limiter: Limiter = createLimiter({ limits: LIMITS, store, time, log: false, failure: { deadlineMs: 20_000 } });
  const left = async (limit: Name): Promise<number> => {
    const { remaining, resetAfterMs } = await limiter.check([{ limit, id, cost: 0 }]);
    return limit === 'Debts' ? 100 - resetAfterMs / 1000 : remaining;
  };
  const spend = (limit: Name, cost: number): Promise<Decision> => limiter.spend([{ limit, id, cost }]);
  return { limiter, left, spend };
}

function usageOf(input: number, output: number) {
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}

/** What each store must do when the true costs of decisions are known, on a clock that a test moves. */
export const settlingCases: readonly SettlingCase[] = [
  {
    name: 'a denial reports what work in progress has taken and may give back, until it is settled',
    async run(setup) {
      const { limiter } = on(setup);
      const pendingOf = async (): Promise<readonly unknown[]> => {
        const { allowed, results } = await limiter.spend([
          { limit: 'Tokens', id, cost: 100 },
          { limit: 'Month', id },
        ]);
        return allowed ? ['allowed'] : results.map(({ pending }) => pending);
      };
      const entries = [{ limit: 'Tokens', id, cost: 30 }];
      // Not settled, so that its tokens are not expected back.
      await limiter.run(entries, () => undefined);
      expect(await pendingOf()).toEqual([undefined, undefined]);
      const end: ((cost: number | Promise<number>) => void)[] = [];
      const work = (): Promise<number> => new Promise((resolve) => end.push(resolve));
      const runs = [1, 2].map(() => limiter.run(entries, work, { settle: (cost) => ({ Tokens: cost ?? 0 }) }));
      await expect.poll(pendingOf).toEqual([60, undefined]);
      end[0]!(10);
      await runs[0];
      expect(await pendingOf()).toEqual([30, undefined]);
      end[1]!(Promise.reject(new Error('failed')));
      await expect(runs[1]).rejects.toThrow('failed');
      expect(await pendingOf()).toEqual([undefined, undefined]);
    },
  },
  {
    name: 'what was taken above the true cost is given back, what is missing is charged, and each settlement corrects the one before',
    async run(setup) {
      const { limiter, left, spend } = on(setup);
      const decision = await spend('Tokens', 40);
      for (const cost of [10, 70, 20, 20, 0, 100]) {
        expect(await limiter.settle(decision, { Tokens: cost })).toEqual([
          { limit: 'Tokens', spent: cost, outcome: 'settled' },
        ]);
        expect(await left('Tokens')).toBe(100 - cost);
      }
      await limiter.refund(decision);
      expect(await left('Tokens')).toBe(100);
    },
  },
  {
    name: 'what has refilled since is not given back, neither of the decision nor of a charge',
    async run(setup) {
      const { limiter, left, spend } = on(setup);
      const decision = await spend('Tokens', 40);
      await setup.advance(30_000);
      await spend('Tokens', 50);
      // 10 of the 40 are still missing, and 50 of the other decision.
      await limiter.settle(decision, { Tokens: 45 });
      expect(await left('Tokens')).toBe(35);
      await limiter.settle(decision, { Tokens: 0 });
      expect(await left('Tokens')).toBe(50);
    },
  },
  {
    name: 'a charge leaves at most the debt of its limit, and only what it took is given back',
    async run(setup) {
      const { limiter, left, spend } = on(setup);
      const decision = await spend('Debts', 40);
      expect(await limiter.settle(decision, { Debts: 500 })).toMatchObject([{ spent: 150, outcome: 'settled' }]);
      expect(await left('Debts')).toBe(-50);
      expect(await limiter.settle(decision, { Debts: 500 })).toMatchObject([{ spent: 150 }]);
      await limiter.settle(decision, { Debts: 60 });
      expect(await left('Debts')).toBe(40);
    },
  },
  {
    name: 'a quota is settled in its period; after it, nothing changes, and the settlement says so',
    async run(setup) {
      const { limiter, left, spend } = on(setup);
      const decision = await spend('Month', 100);
      for (const cost of [300, 50]) {
        await limiter.settle(decision, { Month: cost });
        expect(await left('Month')).toBe(1000 - cost);
      }
      await setup.advance(32 * 86_400_000);
      for (const cost of [700, 0]) {
        expect(await limiter.settle(decision, { Month: cost })).toEqual([
          { limit: 'Month', spent: 50, outcome: 'period-ended' },
        ]);
        expect(await left('Month')).toBe(1000);
      }
    },
  },
  {
    name: 'a month of a trillion tokens is decided, settled, run and changed to the token',
    async run(setup) {
      const { limiter, left, spend } = on(setup);
      const most = MONEY.count;
      const all = await spend('Money', most);
      expect([all.allowed, await left('Money')]).toEqual([true, 0]);
      expect(await spend('Money', 1)).toMatchObject({ allowed: false, remaining: 0 });
      for (const cost of [1, most, most - 1, 2]) {
        expect(await limiter.settle(all, { Money: cost })).toMatchObject([{ spent: cost, outcome: 'settled' }]);
        expect(await left('Money')).toBe(most - cost);
      }
      const settle = () => ({ Money: most - 3 });
      await limiter.run([{ limit: 'Money', id, cost: 999_999_999_998 }], () => 'answer', { settle });
      expect(await spend('Money', 2)).toMatchObject({ allowed: false, remaining: 1 });
      limiter.replace({ limits: { ...LIMITS, Money: quota({ ...MONEY, count: most - 2 }) } });
      expect(await limiter.usage([{ limit: 'Money', id }])).toMatchObject([{ used: most - 1, remaining: 0 }]);
      limiter.replace({ limits: LIMITS });
      expect(await spend('Money', 1)).toMatchObject({ allowed: true, remaining: 0 });
      await limiter.refund([{ limit: 'Money', id, cost: most }]);
      expect(await left('Money')).toBe(most);
    },
  },
  {
    name: 'what eight workers learn at once restricts a bucket once, above its burst too, until the time has passed',
    async run(setup) {
      const { limiter, left, spend } = on(setup);
      await spend('Tokens', 30);
      const restricted = { limit: 'Tokens', id, forMs: 300_000 };
      for (let worker = 0; worker < 8; worker++) await limiter.restrict([restricted]);
      await limiter.restrict([{ limit: 'Tokens', id, remaining: 60 }]);
      expect(await spend('Tokens', 1)).toMatchObject({ allowed: false, retryAfterMs: 300_000 });
      await setup.advance(299_999);
      expect(await spend('Tokens', 1)).toMatchObject({ allowed: false, retryAfterMs: 1 });
      await setup.advance(1);
      expect(await spend('Tokens', 1)).toMatchObject({ allowed: true, remaining: 0 });
      await limiter.reset([{ limit: 'Tokens', id }]);
      await limiter.restrict([{ limit: 'Tokens', id, remaining: 60 }]);
      expect(await left('Tokens')).toBe(60);
    },
  },
  {
    name: 'calls that cost far more than was estimated never take more than the budget and its debt',
    async run(setup) {
      const { limiter, left } = on(setup);
      const settle = () => ({ Debts: 133 });
      const calls = Array.from({ length: 5 }, () =>
        limiter.run([{ limit: 'Debts', id, cost: 20 }], () => 'answer', { settle }),
      );
      const allowed = (await Promise.all(calls)).filter((each) => each.allowed);
      expect(allowed.length).toBeGreaterThan(0);
      expect(await left('Debts')).toBeGreaterThanOrEqual(-50);
      expect(await limiter.run([{ limit: 'Debts', id, cost: 20 }], () => 'answer', { settle })).toMatchObject({
        allowed: false,
      });
    },
  },
  {
    name: 'concurrent and later calls of a model never take more than the budget and its debt',
    async run(setup) {
      const { limiter, left } = on(setup);
      let used = 0;
      const scripted = new MockLanguageModelV3({
        async doGenerate() {
          used += 133;
          return {
            content: [],
            usage: usageOf(33, 100),
            finishReason: { unified: 'stop', raw: undefined },
            warnings: [],
          };
        },
      });
      const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x'.repeat(40) }] }];
      const callOf = (limit: Name, maxOutputTokens: number) => {
        const model = wrapLanguageModel({
          model: scripted,
          middleware: budget({ limiter, limits: { [limit]: 'tokens' }, id, estimate: () => ({ input: 33 }) }),
        });
        return () => model.doGenerate({ prompt, maxOutputTokens });
      };
      const passed = async (calls: readonly PromiseLike<unknown>[]): Promise<number> =>
        (await Promise.allSettled(calls)).filter(({ status }) => status === 'fulfilled').length;

      // With a true estimate, the use never exceeds the budget.
      const bounded = callOf('Month', 100);
      expect(await passed(Array.from({ length: 10 }, bounded))).toBe(7);
      expect([used, await left('Month')]).toEqual([7 * 133, 1000 - 7 * 133]);
      await expect(bounded()).rejects.toThrow('Limit "Month" does not allow this call');

      // With an estimate that is too low, it exceeds the budget by at most the debt, and no further call passes.
      const unbounded = callOf('Debts', 0);
      expect(await passed(Array.from({ length: 5 }, unbounded))).toBe(3);
      expect(await left('Debts')).toBe(-50);
      used = 0;
      for (let i = 0; i < 5; i++) await expect(unbounded()).rejects.toThrow('Limit "Debts" does not allow this call');
      expect([used, await left('Debts')]).toEqual([0, -50]);
    },
  },
  {
    name: 'run takes tokens, a quota and a slot in one decision: a full slot takes nothing, and failed work is settled, too',
    async run(setup) {
      const { limiter, left } = on(setup);
      const entries = [
        { limit: 'Tokens', id, cost: 40 },
        { limit: 'Month', id, cost: 400 },
        { limit: 'Running', id },
      ];
      const settle = (_value: unknown, { error }: { error: unknown }) =>
        error === undefined ? { Tokens: 10 } : { Tokens: 5, Month: 50 };
      const inside: unknown[] = [];
      const ran = await limiter.run(
        entries,
        async () => {
          inside.push(await limiter.run(entries, () => 'never'), await left('Tokens'), await left('Month'));
          return 'done';
        },
        { settle },
      );
      expect(ran).toMatchObject({ allowed: true, value: 'done' });
      expect(inside).toMatchObject([{ allowed: false, decision: { limit: 'Running' } }, 60, 600]);
      expect([await left('Tokens'), await left('Month'), await left('Running')]).toEqual([90, 600, 1]);
      const failing = limiter.run(entries, async () => Promise.reject(new Error('broken')), { settle });
      await expect(failing).rejects.toThrow('broken');
      expect([await left('Tokens'), await left('Month'), await left('Running')]).toEqual([85, 550, 1]);
    },
  },
];

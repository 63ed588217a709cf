import { accountId, createLimiter, type Decision } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Decided } from '../../packages/core/src/decision/decided.ts';
import { QueuedDecisions } from '../../packages/core/src/limiter/queued-decisions.ts';
import { RUNS } from './runs.ts';

const key = accountId(() => null);

interface Wait {
  readonly name: number;
  readonly buckets: readonly string[];
  readonly dueMs: number;
  isGone: boolean;
}

/** The same in quadratic time: from the last turn to the first, all that have left and have nobody behind them. */
function ends(waiting: readonly Wait[]): readonly number[] {
  const taken = new Set<string>();
  const free: number[] = [];
  for (const { name, buckets, isGone } of waiting.toReversed()) {
    if (isGone && !buckets.some((bucket) => taken.has(bucket))) free.push(name);
    else for (const bucket of buckets) taken.add(bucket);
  }
  return free;
}

test('tokens are given back by those who left at the end of their queues, and turns come in their order', async () => {
  const limits = Object.fromEntries(
    ['A', 'B', 'C'].map((name) => [name, { key, burst: 1, count: 1, period: '1s', maxWait: '1h' }]),
  );
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ buckets: fc.subarray(['A', 'B', 'C'], { minLength: 1 }) }) },
    { weight: 3, arbitrary: fc.record({ leaves: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ passMs: fc.nat(3000) }) },
  );
  const given = { back: 0, over: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const time = new FakeTime();
      const limiter = createLimiter({ limits, time, log: false });
      for (const limit of ['A', 'B', 'C']) await limiter.spend([{ limit, id: 'x' }]);
      const names = new Map<Decision, number>();
      const [back, over]: [number[], number[]] = [[], []];
      const queued = new QueuedDecisions({
        time,
        refund: (decision) => void back.push(names.get(decision)!),
        noteLate: () => expect.unreachable(),
      });
      const leaves: (() => boolean)[] = [];
      let waiting: Wait[] = [];
      const expected: unknown[] = [];
      const seen: unknown[] = [];
      for (const each of steps) {
        if ('buckets' in each) {
          const decision = await limiter.spend(each.buckets.map((limit) => ({ limit, id: 'x' })));
          const name = names.size;
          names.set(decision, name);
          leaves.push(queued.add(decision as Decided, (how) => how === 'over' && over.push(name)));
          waiting.push({ name, buckets: each.buckets, dueMs: time.nowMs + decision.delayMs, isGone: false });
          waiting.sort((one, other) => one.dueMs - other.dueMs || one.name - other.name);
        } else if ('leaves' in each && leaves.length > 0) {
          const wait = waiting.find(({ name }) => name === each.leaves % leaves.length);
          const mayLeave = wait?.isGone === false;
          if (mayLeave) wait.isGone = true;
          const free = mayLeave ? ends(waiting) : [];
          seen.push(leaves[each.leaves % leaves.length]!(), new Set(back.splice(0)));
          expected.push(mayLeave, new Set(free));
          given.back += free.length;
          waiting = waiting.filter(({ name }) => !free.includes(name));
        } else if ('passMs' in each) {
          time.advance(each.passMs);
          const due = waiting.filter(({ dueMs }) => dueMs <= time.nowMs);
          seen.push(over.splice(0));
          expected.push(due.filter(({ isGone }) => !isGone).map(({ name }) => name));
          given.over += due.length;
          waiting = waiting.filter(({ dueMs }) => dueMs > time.nowMs);
        }
      }
      expect(seen).toEqual(expected);
      queued.close();
      expect(back).toEqual(waiting.map(({ name }) => name).toReversed());
    }),
    { numRuns: RUNS },
  );
  expect(given.back).toBeGreaterThan(RUNS / 10);
  expect(given.over).toBeGreaterThan(RUNS / 10);
});

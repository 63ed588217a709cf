import { accountId, createLimiter, memoryStore, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RUNS } from './runs.ts';

/** Milliseconds, as all numbers here: turns at other times end up to one later, because timers do. */
const INTERVAL = 100;
const BURST = 3;
const MAX_WAIT = 700;

/** One queue by its definition: the instant at which it is empty. */
class Oracle {
  #tat = -Infinity;

  /** @param within - For how long the caller waits. */
  ask(now: number, cost: number, within: number): { delay: number; allowed: boolean; reason: 'deadline' | undefined } {
    const tat = Math.max(this.#tat, now) + cost * INTERVAL;
    const delay = cost === 0 ? 0 : Math.max(0, tat - now - BURST * INTERVAL);
    const fits = delay <= MAX_WAIT;
    if (within > 0 && fits && delay < within) {
      this.#tat = cost === 0 ? this.#tat : tat;
      return { delay, allowed: true, reason: undefined };
    }
    return { delay: 0, allowed: false, reason: within <= 0 || fits ? 'deadline' : undefined };
  }
}

const withins = fc.oneof(
  fc.integer({ min: -10, max: 900 }),
  fc.constantFrom(0, 100, 200, 300),
  fc.constantFrom(5000, Infinity),
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ cost: fc.integer({ min: 0, max: BURST }), within: withins }) },
  { weight: 1, arbitrary: fc.record({ pass: fc.integer({ min: 0, max: 200 }) }) },
);

test.each([false, true])(
  'a request is let through exactly if it begins before its caller gives up, and others keep their turns (late store: %s)',
  async (isLate) => {
    const seen = { allowed: 0, deadline: 0, limit: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
        const time = new FakeTime();
        const memory = memoryStore({ time });
        const late: Store = {
          guard: storeGuard,
          run: async (operation) => memory.run(operation),
          close: () => memory.close(),
        };
        const queue = { key: accountId(), burst: BURST, count: 10, period: '1s', maxWait: '700ms' };
        const limiter = createLimiter({ limits: { Queue: queue }, store: isLate ? late : memory, time, log: false });
        const oracle = new Oracle();
        const begun: [request: number, at: number][] = [];
        const expected: typeof begun = [];
        const denied: [expected: unknown, actual: unknown][] = [];
        for (const [i, each] of steps.entries()) {
          if ('pass' in each) {
            await time.pass(each.pass);
            continue;
          }
          const { cost, within } = each;
          const { delay, allowed, reason } = oracle.ask(time.nowMs, cost, within);
          seen[allowed ? 'allowed' : (reason ?? 'limit')]++;
          const begin = (): void => void begun.push([i, time.nowMs]);
          const ran = limiter.run([{ limit: 'Queue', id: 'a', cost }], begin, { within });
          if (allowed) expected.push([i, time.nowMs + delay]);
          else denied.push([reason, (await ran).decision.reason]);
          await time.pass(0);
        }
        await time.pass(1000);
        for (const [reason, actual] of denied) expect(actual).toBe(reason);
        expect(begun.toSorted(([one], [other]) => one - other)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(RUNS / 2);
  },
);

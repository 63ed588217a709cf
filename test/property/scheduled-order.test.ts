import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createScheduler, SchedulerError } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Random } from '../leases/random.ts';
import { sized } from '../sized.ts';
import { OrderOracle, type OracleCall, type Outcome } from './order-oracle.ts';

const LIMITS = { Api: { burst: 5, everyMs: 20 }, Tokens: { burst: 100, everyMs: 2 }, Busy: { slots: 3 } } as const;
const AHEAD_MS = 50;
const CALLS = 2000;
/** Which limits calls are for, and the most that they cost there. */
const KINDS: readonly Readonly<Record<string, number>>[] = [
  { Api: 1 },
  { Api: 3 },
  { Api: 1, Tokens: 60 },
  { Tokens: 100 },
  { Busy: 1 },
  { Api: 1, Busy: 2 },
];

beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0.5));
afterEach(() => void vi.restoreAllMocks());

/** Lets all promises that do not wait for the time settle. */
async function settled(turns = 12): Promise<void> {
  for (let i = 0; i < turns; i++) await Promise.resolve();
}

test.each(Array.from({ length: sized(2, 50) }, (_, seed) => seed))(
  'each of thousands of random calls begins when the oracle says so, or ends without (seed %i)',
  async (seed) => {
    const random = new Random(seed);
    const whole = (most: number): number => random.whole(0, most - 1);
    const time = new FakeTime();
    const key = everyone();
    const limiter = createLimiter({
      time,
      log: false,
      limits: {
        Api: { key, burst: 5, count: 50, period: '1s' },
        Tokens: { key, burst: 100, count: 500, period: '1s' },
        Busy: concurrency({ key, concurrency: 3 }),
      },
    });
    const scheduler = createScheduler(limiter);
    const oracle = new OrderOracle(LIMITS, AHEAD_MS);
    const outcomes: Outcome[] = [];
    const running: { readonly call: OracleCall; readonly endMs: number; readonly end: () => void }[] = [];
    const calls: OracleCall[] = [];

    const arrive = (): void => {
      const costs = Object.fromEntries(
        Object.entries(KINDS[whole(KINDS.length)]!).map(([name, most]) => [name, 1 + whole(most)]),
      );
      const call: OracleCall = {
        number: calls.length,
        costs,
        fair: ['', 'a', 'b', 'c'][whole(4)]!,
        priority: whole(4) === 0 ? whole(21) - 10 : 0,
        withinMs: 2 * (50 + whole(1500)),
      };
      const workMs = whole(5) === 0 ? 0 : whole(60);
      const entries = Object.entries(costs).map(([limit, cost]) => ({ limit, id: 'everyone', cost }) as const);
      const work = (): Promise<void> => {
        outcomes.push({ number: call.number, what: 'begins', atMs: time.nowMs });
        return new Promise((end) => running.push({ call, endMs: time.nowMs + workMs, end }));
      };
      const { fair, priority, withinMs } = call;
      scheduler.run(entries as never, work, { fair, priority, within: `${withinMs}ms` }).catch((error: unknown) => {
        const what = error instanceof SchedulerError ? error.reason : String(error);
        outcomes.push({ number: call.number, what, atMs: time.nowMs });
      });
      calls.push(call);
      oracle.arrive(call);
    };

    for (let ms = 0; calls.length < CALLS || scheduler.size > 0 || scheduler.running > 0; ms++) {
      // Nothing else would end a test that waits for no timer.
      if (ms > 100 * CALLS) throw new Error('Calls wait forever.');
      time.advance(1);
      oracle.pass();
      await settled(3);
      for (const each of running.filter(({ endMs }) => endMs <= time.nowMs)) {
        running.splice(running.indexOf(each), 1);
        each.end();
        await settled();
        oracle.end(each.call);
      }
      const isBusy = ms % 4000 < 2500;
      for (let i = 0; calls.length < CALLS && i < 2; i++) if (random.chance(isBusy ? 0.03 : 0.004)) arrive();
      await settled(3);
      if (whole(3000) === 0) {
        const forMs = whole(800);
        await limiter.restrict([{ limit: 'Api', id: 'everyone', forMs }]);
        oracle.restrict('Api', forMs);
      }
    }
    const byNumber = (one: Outcome, other: Outcome): number => one.number - other.number;
    expect(outcomes.toSorted(byNumber)).toEqual(oracle.outcomes.toSorted(byNumber));
    const failed = outcomes.filter(({ what }) => what === 'within').length;
    expect(failed).toBeGreaterThan(CALLS / 100);
    expect(failed).toBeLessThan(CALLS / 2);
    await limiter.close();
  },
  120_000,
);

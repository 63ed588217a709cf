import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createScheduler, SchedulerError } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Random } from '../leases/random.ts';
import { sized } from '../sized.ts';
import { type QueuedCallHistory, worstUnfairness } from './fair-shares.ts';
import { OrderOracle, type OracleCall, type Outcome } from './order-oracle.ts';
import { RUNS } from './runs.ts';
import { StepCounts } from './step-counts.ts';

const LIMITS = { Api: { burst: 5, everyMs: 20 }, Tokens: { burst: 100, everyMs: 2 }, Busy: { slots: 3 } } as const;
/** So many calls with each seed: 100,000 with `SLUICE_ALL_CASES=yes`, or more with more `SLUICE_PROPERTY_RUNS`. */
const CALLS = 2000;
const SEEDS = Math.max(2, Math.floor(RUNS / sized(500, 20)));
/** Which limits calls are for, and the most that they cost there. */
const KINDS: readonly Readonly<Record<string, number>>[] = [
  { Api: 1 },
  { Api: 3 },
  { Api: 1, Tokens: 60 },
  { Tokens: 100 },
  { Busy: 1 },
  { Api: 1, Busy: 2 },
];

/** What has to occur among the calls. */
const NAMED = [
  ...KINDS.map((kind) => `for ${Object.keys(kind).toSorted().join()}`),
  ...['', 'a', 'b', 'c'].map((key) => `with the key '${key}'`),
  'began at once',
  'began later',
  'ended without',
  'begun after half of their time',
  'with a higher priority',
  'with a lower priority',
  'with a cost above 1',
  'releases that let others begin',
  'blocks learnt while calls wait',
];

beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0.5));
afterEach(() => void vi.restoreAllMocks());

/** Lets all promises that do not wait for the time settle. */
async function settled(turns = 12): Promise<void> {
  for (let i = 0; i < turns; i++) await Promise.resolve();
}

test('each of many random calls begins when the oracle says so, or ends without, and no key takes the share of another', async () => {
  const counts = new StepCounts();
  let worst = 0;
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let seed = 0; seed < SEEDS; seed++) worst = Math.max(worst, await tryCalls(seed, counts));
  console.log(`${counts.line()}; a key was served ${worst.toFixed(3)} of what is allowed before another`);
  expect(worst).toBeLessThanOrEqual(1);
  expect(NAMED.filter((what) => counts.of(what) === 0)).toEqual([]);
  const [total, failed] = [counts.total, counts.of('ended without')];
  expect(total).toBe(SEEDS * CALLS);
  expect(failed).toBeGreaterThan(total / 100);
  expect(failed).toBeLessThan(total / 2);
});

/** Tries random calls. Returns {@link worstUnfairness} where calls take their tokens when they begin, otherwise 0. */
async function tryCalls(seed: number, counts: StepCounts): Promise<number> {
  const random = new Random(seed);
  const whole = (most: number): number => random.whole(0, most - 1);
  const aheadMs = seed % 2 === 0 ? 50 : 0;
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
  const scheduler = createScheduler(limiter, { ahead: `${aheadMs}ms` });
  const oracle = new OrderOracle(LIMITS, aheadMs);
  const outcomes: Outcome[] = [];
  const running: { readonly call: OracleCall; readonly endMs: number; readonly end: () => void }[] = [];
  const calls: (OracleCall & { readonly cameMs: number; readonly came: number })[] = [];
  /** The order in which calls came and left. */
  let order = 0;
  const left: number[] = [];
  const leaves = (outcome: Outcome): void => {
    outcomes.push(outcome);
    left.push(order++);
  };

  const arrive = (): void => {
    const costs = Object.fromEntries(
      Object.entries(KINDS[whole(KINDS.length)]!).map(([name, most]) => [name, 1 + whole(most)]),
    );
    const call = {
      number: calls.length,
      costs,
      fair: ['', '', '', '', 'a', 'a', 'b', 'c'][whole(8)]!,
      priority: whole(4) === 0 ? whole(21) - 10 : 0,
      withinMs: 2 * (50 + whole(1500)),
      cameMs: time.nowMs,
      came: order++,
    };
    const workMs = whole(5) === 0 ? 0 : whole(60);
    const entries = Object.entries(costs).map(([limit, cost]) => ({ limit, id: 'everyone', cost }) as const);
    const work = (): Promise<void> => {
      leaves({ number: call.number, what: 'begins', atMs: time.nowMs });
      return new Promise((end) => running.push({ call, endMs: time.nowMs + workMs, end }));
    };
    const { fair, priority, withinMs } = call;
    calls.push(call);
    scheduler.run(entries as never, work, { fair, priority, within: `${withinMs}ms` }).catch((error: unknown) => {
      const what = error instanceof SchedulerError ? error.reason : String(error);
      leaves({ number: call.number, what, atMs: time.nowMs });
    });
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
      const before = outcomes.length;
      each.end();
      await settled();
      oracle.end(each.call);
      if ('Busy' in each.call.costs && outcomes.length > before) counts.note('releases that let others begin');
    }
    const isBusy = ms % 4000 < 2500;
    for (let i = 0; calls.length < CALLS && i < 2; i++) if (random.chance(isBusy ? 0.03 : 0.004)) arrive();
    await settled(3);
    if (whole(3000) === 0) {
      const forMs = whole(800);
      await limiter.restrict([{ limit: 'Api', id: 'everyone', forMs }]);
      oracle.restrict('Api', forMs);
      if (scheduler.size > 0) counts.note('blocks learnt while calls wait');
    }
  }
  await limiter.close();
  const byNumber = (one: Outcome, other: Outcome): number => one.number - other.number;
  expect(outcomes.toSorted(byNumber), `seed ${seed}`).toEqual(oracle.outcomes.toSorted(byNumber));

  const histories = outcomes.map(({ number, what, atMs }, i): QueuedCallHistory => {
    const { costs, cameMs, withinMs, came, fair, priority } = calls[number]!;
    const [urgentMs, lane] = [cameMs + withinMs / 2, Object.keys(costs).toSorted().join()];
    const cost = Math.max(...Object.values(costs));
    const begins = what === 'begins';
    counts.step(begins ? (atMs === cameMs ? 'began at once' : 'began later') : 'ended without');
    counts.note(`for ${lane}`);
    counts.note(`with the key '${fair}'`);
    if (priority !== 0) counts.note(priority > 0 ? 'with a higher priority' : 'with a lower priority');
    if (cost > 1) counts.note('with a cost above 1');
    if (begins && urgentMs <= atMs && priority < 10) counts.note('begun after half of their time');
    return { lane, priority, fair, cost, cameMs, urgentMs, leftMs: atMs, begins, came, left: left[i]! };
  });
  return aheadMs === 0 ? worstUnfairness(histories) : 0;
}

import type { Clock } from './clock.ts';
import { Decision } from './decision.ts';
import type { LimitSet } from './limit-set.ts';
import type { Limit } from './limits.ts';
import type { Rate } from './rate.ts';
import type { StoreCap } from './store.ts';
import { TICKS_PER_MICRO } from './ticks.ts';
import type { Transaction } from './transaction.ts';

/** So many changes are remembered at most, and of each so many buckets that were cut. */
const MAX_CHANGES = 4;
const MAX_BUCKETS = 100_000;
/** A change is remembered for as long as a debt of the old numbers can last, and at least this long. */
const MIN_KEPT_MICROS = 60_000_000;

interface Change {
  /** What was in effect before. */
  readonly before: LimitSet<never>;
  readonly untilMicros: number;
  /** The buckets whose debt was cut because of this change. */
  readonly cut: Set<string>;
}

/**
 * Lets a raised limit help at once.
 *
 * A debt is a time. One that old numbers left may be longer than an empty bucket of the new numbers needs to fill, and
 * the client would wait for it: raised from 1 a day to 5 a second, still a day. So when a bucket denies for that reason
 * after its limit was raised, its debt is cut to that of an empty bucket. Each bucket is cut once for each change, not at
 * every look: while other processes still use the old numbers, cutting again and again would lift the limit altogether.
 */
export class RaisedLimits {
  readonly #clock: Clock;
  #changes: Change[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether nothing was changed of late: then no decision needs a look. */
  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  /** Called when limits are replaced, with those that were in effect before. */
  changed(before: LimitSet<never>): void {
    this.#forgetOld();
    const keptMicros = Math.max(MIN_KEPT_MICROS, before.longestToleranceTicks / TICKS_PER_MICRO);
    const untilMicros = this.#clock.nowMicros() + keptMicros;
    this.#changes = [{ before, untilMicros, cut: new Set<string>() }, ...this.#changes].slice(0, MAX_CHANGES);
  }

  /** The buckets that denied a batch by a debt from before a raise. Each is named once for each change. */
  toCut(decision: Decision): readonly StoreCap[] {
    const ruling = Decision.rulingOf(decision);
    if (decision.outcome !== 'denied' || !ruling.available || ruling.failure !== undefined) return [];
    this.#forgetOld();
    const { levelsTicks } = ruling.reading;
    return ruling.batch.filter(
      (transaction, i) => levelsTicks[i]! > transaction.toleranceTicks && this.#isRaised(transaction, levelsTicks[i]!),
    );
  }

  #isRaised({ limit, id, rate }: Transaction, levelTicks: number): boolean {
    const bucket = `${limit}:${id}`;
    for (const { before, cut } of this.#changes) {
      if (cut.has(bucket) || cut.size >= MAX_BUCKETS) continue;
      const old = rateBefore(before, limit, id);
      if (old === undefined || !isRaise(old, rate) || levelTicks > old.toleranceTicks) continue;
      cut.add(bucket);
      return true;
    }
    return false;
  }

  #forgetOld(): void {
    const nowMicros = this.#clock.nowMicros();
    this.#changes = this.#changes.filter(({ untilMicros }) => nowMicros < untilMicros);
  }
}

/** The numbers that an id had, where they are known without asking anybody. */
function rateBefore({ limits, listed }: LimitSet<never>, name: string, id: string): Rate | undefined {
  const limit: Limit<never> | undefined = limits.get(name);
  if (limit === undefined || listed === undefined) return undefined;
  const rate = listed.rateOf(name, id) ?? limit.rate;
  return typeof rate === 'string' ? undefined : rate;
}

/** Whether tokens come back faster than before. A lower burst alone is no raise: its debts pass as they are. */
function isRaise(before: Rate, now: Rate): boolean {
  return now.emissionIntervalTicks < before.emissionIntervalTicks;
}

import type { Time } from '../time/time.ts';
import { Decision } from '../decision/decision.ts';
import type { LimitSet } from '../limits/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import type { Rate } from '../rule/rate.ts';
import type { StoreCap } from '../store/store.ts';
import { TICKS_PER_MICRO } from '../rule/ticks.ts';
import type { Transaction } from '../decision/transaction.ts';

/** How many changes are remembered at most, and how many cut buckets of each change. */
const MAX_CHANGES = 4;
const MAX_BUCKETS = 100_000;
/** A change is remembered for as long as a debt from the old numbers can last, and at least this long. */
const MIN_KEPT_MICROS = 60_000_000;

interface Change {
  /** The limits and overrides that were in effect before the change. */
  readonly before: LimitSet<never>;
  readonly untilMicros: number;
  /** The buckets whose debt was cut because of this change, or is being cut now. */
  readonly cut: Set<string>;
}

/** Debts for the store to cut. Their buckets count as cut from now on, so that no other denial sends the same cut. */
export interface DebtCut {
  readonly debts: readonly StoreCap[];
  /** To be called when the store failed: the next denial of these buckets sends the cut again. */
  readonly failed: () => void;
}

/**
 * Makes a raised limit take effect at once.
 *
 * A debt is a time. A debt from the old numbers may be longer than the time in which an empty bucket of the new numbers
 * fills, and the client would have to wait for all of it: after a raise from 1 a day to 5 a second, still a day. So when
 * a bucket denies for that reason after its limit was raised, its debt is cut to that of an empty bucket. Each bucket is
 * cut once for each change, not at every denial: while other processes still use the old numbers, repeated cuts would
 * remove the limit altogether.
 *
 * A cut that failed does not count. The store may still have made it, when only its reply was lost: then the debt fits
 * the new numbers, and the bucket is cut once more only if a process with the old numbers has filled it again meanwhile.
 */
export class RaisedLimits {
  readonly #time: Time;
  #changes: Change[] = [];

  constructor(time: Time) {
    this.#time = time;
  }

  /** Whether no change is remembered: then no decision has to be looked at. */
  get isEmpty(): boolean {
    return this.#changes.length === 0;
  }

  /** To be called when limits are replaced, with the limits that were in effect before. */
  changed(before: LimitSet<never>): void {
    this.#forgetOld();
    const keptMicros = Math.max(MIN_KEPT_MICROS, before.longestToleranceTicks / TICKS_PER_MICRO);
    const untilMicros = this.#time.nowMicros() + keptMicros;
    this.#changes = [{ before, untilMicros, cut: new Set<string>() }, ...this.#changes].slice(0, MAX_CHANGES);
  }

  /** The debts from before a raise by which a batch was denied; `undefined` when there are none to cut. */
  cutFor(decision: Decision): DebtCut | undefined {
    const answer = Decision.answerOf(decision);
    if (decision.outcome !== 'denied' || !answer.available || answer.failure !== undefined) return undefined;
    this.#forgetOld();
    const { levelsTicks } = answer.reading;
    const undo: (() => void)[] = [];
    const debts = answer.batch.filter((transaction, i) => {
      const change = this.#raiseBehind(transaction, levelsTicks[i]!);
      if (change === undefined) return false;
      const bucket = bucketOf(transaction);
      change.cut.add(bucket);
      undo.push(() => change.cut.delete(bucket));
      return true;
    });
    return debts.length === 0 ? undefined : { debts, failed: () => undo.forEach((run) => run()) };
  }

  /** The latest raise that left a debt as long as this one and has not cut it yet. */
  #raiseBehind(transaction: Transaction, levelTicks: number): Change | undefined {
    const { limit, id, rate, capTicks } = transaction;
    if (levelTicks <= capTicks) return undefined;
    return this.#changes.find(({ before, cut }) => {
      if (cut.has(bucketOf(transaction)) || cut.size >= MAX_BUCKETS) return false;
      const old = rateBefore(before, limit, id);
      return old !== undefined && isRaise(old, rate) && levelTicks <= old.toleranceTicks;
    });
  }

  #forgetOld(): void {
    const nowMicros = this.#time.nowMicros();
    this.#changes = this.#changes.filter(({ untilMicros }) => nowMicros < untilMicros);
  }
}

function bucketOf({ limit, id }: Transaction): string {
  return `${limit}:${id}`;
}

/** The numbers of an id before a change; `undefined` when only a function of the user's knows them. */
function rateBefore({ limits, listed }: LimitSet<never>, name: string, id: string): Rate | undefined {
  const limit: Limit<never> | undefined = limits.get(name);
  if (limit === undefined || listed === undefined) return undefined;
  const rate = listed.rateOf(name, id) ?? limit.rate;
  return typeof rate === 'string' ? undefined : rate;
}

/** Whether tokens come back faster than before. A change of the burst alone does not count: its debts pass as they are. */
function isRaise(before: Rate, now: Rate): boolean {
  return now.emissionIntervalTicks < before.emissionIntervalTicks;
}

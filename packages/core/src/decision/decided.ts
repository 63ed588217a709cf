import type { ReadingToFill, StoreReading } from '../store/store.ts';
import type { Failure, Judged, Origin } from './batch-answer.ts';
import type { Decision, Outcome } from './decision.ts';
import type { Holder, Holding } from './holding.ts';
import { addPending } from './pending-tokens.ts';
import type { Result } from './result.ts';
import { allowedFigures, delayMsOf, resultsOf, type Figures } from './results.ts';
import { showAsJson } from './show-as-json.ts';
import { longestOf, strictestOf } from './strictness.ts';
import type { Transaction } from './transaction.ts';

/**
 * The state of a decision that holds something, or was corrected. Other decisions have none. A WeakMap would cost the garbage
 * collector more.
 */
class DecisionState {
  /** What the decision holds, or has held. */
  holding: Holding | undefined = undefined;
  /** The tokens that the decision took, as its limiter tracks them for corrections. */
  spent: unknown = undefined;
  /** Its last settlement. The next one begins after it, and corrects it. */
  settled: Promise<unknown> | undefined = undefined;
  /** When the caller of a decision with a delay gives up, on the clock of the limiter; undefined for one that waits. */
  declare dueMicros?: number;
  /** Whether limits that were asked for may have no result: of unlimited ids, and of alternatives. */
  declare leavesOut?: true;
}

/** The figures of a decision to which no limit applied. It is allowed. */
const NO_LIMIT: Figures = {
  limit: null,
  id: null,
  blocked: false,
  remaining: Infinity,
  retryAfterMs: 0,
  resetAfterMs: 0,
};

/**
 * The wait that is reported when no store was asked: a limit is `closed` because its store can't answer, and the end of the
 * outage is unknown, or the caller has given up. One second is the shortest wait that Retry-After can express, and a failing
 * store is tried up to ten times in it.
 */
const UNKNOWN_RETRY_MS = 1000;

/**
 * A decision, and the reading of the store that it is: one object, because most decisions need no other. The verdict is what
 * the store returned. The levels are for the figures, which are worked out when they are read.
 */
export class Decided implements Decision, Judged, ReadingToFill, Holder {
  /**
   * The transactions, with the numbers that the reading was made with. When the store could not answer, this differs from the
   * requested batch: transactions under the `local` policy have local rates, costs and ticks, and those that were not
   * decided are left out. When no store has decided, the transactions that are to blame, of which there is at least one.
   */
  readonly batch: readonly Transaction[];
  readonly origin: Origin;
  /** The verdict: 0 when allowed, −1 when denied, undefined when the batch could not be decided. */
  passed: number | undefined;
  nowTicks: number;
  readonly levelsTicks: number[];
  bucketNowTicks: readonly number[] | undefined;
  bucketWallMs: readonly (number | undefined)[] | undefined;
  /** Milliseconds from the beginning of the decision to its end. Set only while durations are measured. */
  durationMs: number | undefined;
  made: readonly Result[] | undefined;
  strictest: Figures | undefined;
  state: DecisionState | undefined;

  static {
    showAsJson(this.prototype);
  }

  /**
   * @param reading - Undefined for one that the store fills.
   * @param results - Undefined for those of a reading, which are made when they are read.
   */
  constructor(batch: readonly Transaction[], origin: Origin, reading?: StoreReading, results?: readonly Result[]) {
    this.batch = batch;
    this.origin = origin;
    this.passed = reading?.passed ?? -1;
    this.nowTicks = reading === undefined ? NaN : reading.nowTicks;
    // Those of one bucket are a literal: it is allocated where it is written, and from the beginning for numbers of any size.
    const known = reading?.levelsTicks as number[] | undefined;
    // oxlint-disable-next-line unicorn/no-new-array
    this.levelsTicks = known ?? (batch.length === 1 ? [NaN] : new Array<number>(batch.length).fill(NaN));
    this.bucketNowTicks = reading?.bucketNowTicks;
    this.bucketWallMs = reading?.bucketWallMs;
    this.durationMs = undefined;
    this.made = results;
    this.strictest = undefined;
    this.state = undefined;
  }

  get outcome(): Outcome {
    if (this.passed === 0) return 'allowed';
    return this.passed === undefined ? 'unavailable' : 'denied';
  }

  get allowed(): boolean {
    return this.passed === 0;
  }

  get failure(): Failure | undefined {
    return this.origin.failure;
  }

  get reason(): 'deadline' | undefined {
    return this.origin.reason;
  }

  get blocked(): boolean {
    return this.#figures.blocked;
  }

  get limit(): string | null {
    return this.#figures.limit;
  }

  get id(): string | null {
    return this.#figures.id;
  }

  get remaining(): number {
    return this.#figures.remaining;
  }

  get retryAfterMs(): number {
    return this.#figures.retryAfterMs;
  }

  get resetAfterMs(): number {
    return this.#figures.resetAfterMs;
  }

  get delayMs(): number {
    const { batch, passed } = this;
    if (passed !== 0) return 0;
    for (let i = 0; i < batch.length; i++) if (batch[i]!.lineTicks !== undefined) return delayMsOf(this);
    return 0;
  }

  get results(): readonly Result[] {
    return (this.made ??= resultsOf(this));
  }

  get overloaded(): boolean {
    const { batch, made = this.results } = this;
    for (let i = 0; i < made.length; i++) if (!made[i]!.allowed && !batch[i]!.treatment.sheds) return false;
    return this.passed === -1 && made.length > 0 && !this.blocked;
  }

  /** What the decision holds, or has held. */
  get holding(): Holding | undefined {
    return this.state?.holding;
  }

  async release(): Promise<void> {
    return this.holding?.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  toJSON(): object {
    const { outcome, allowed, limit, id, blocked, remaining, retryAfterMs, resetAfterMs, delayMs } = this;
    const { failure, reason, results } = this;
    const figures = { limit, id, blocked, remaining, retryAfterMs, resetAfterMs, delayMs };
    return { outcome, allowed, ...figures, failure, reason, results };
  }

  get #figures(): Figures {
    if (this.strictest !== undefined) return this.strictest;
    // Most are allowed by one limit, and only some of their figures are read.
    if (this.passed === 0 && this.batch.length === 1 && this.made === undefined)
      return (this.strictest = allowedFigures(this));
    const { results, passed, batch, origin } = this;
    if (passed === undefined || (batch.length === 0 && passed === -1))
      return (this.strictest = unknownFigures(batch[0]));
    if (results.length < 2) return (this.strictest = results[0] ?? NO_LIMIT);
    return (this.strictest = origin.store === undefined ? longestOf(results) : results[strictestOf(this, results)]!);
  }
}

/** @param first - Undefined if no limit is to blame. */
function unknownFigures(first: Transaction | undefined): Figures {
  const { limit = null, id = null } = first ?? {};
  const retryAfterMs = UNKNOWN_RETRY_MS;
  return { limit, id, blocked: false, remaining: 0, retryAfterMs, resetAfterMs: retryAfterMs };
}

/** Returns the state of a decision. The first call makes it. */
export function stateOf(decision: Decided): DecisionState {
  return (decision.state ??= new DecisionState());
}

/** Notes that limits that were asked for may have no result. */
export function leavingOut(decision: Decided): Decided {
  stateOf(decision).leavesOut = true;
  return decision;
}

/**
 * Notes that what a decision took may come back, for the `pending` of denials, until the returned function is called.
 *
 * @param results - Those of the decision that may be settled. Default: all.
 */
export function expectSettlement(decision: Decision, results: readonly Result[] = decision.results): () => void {
  return addPending((decision as Decided).origin.owner, results);
}

/**
 * Returns the decision of alternatives: of the one that passes, or of the one that can pass soonest.
 *
 * @param tried - All but the last are denied.
 */
export function firstDecision(tried: readonly Decided[]): Decided {
  const last = tried.at(-1)!;
  if (last.outcome !== 'denied') return last;
  return tried.reduce((soonest, one) => (one.retryAfterMs < soonest.retryAfterMs ? one : soonest));
}

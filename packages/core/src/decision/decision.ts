import type { Failure, Ruling } from './batch-answer.ts';
import type { Mode } from '../store/store.ts';

/** A bucket as it is after a call, with the numbers that hold for its id. */
export interface BucketState {
  readonly limit: string;
  readonly id: string;
  /** Whole tokens that are there, 0 to `burst`. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full again if nothing more comes; 0 when it is. */
  readonly resetAfterMs: number;
  readonly burst: number;
  readonly count: number;
  readonly periodMs: number;
  /** Whether the numbers come from an override. */
  readonly overridden: boolean;
}

/** What came of one transaction. */
export interface Result extends BucketState {
  /** Tokens that were asked for. */
  readonly cost: number;
  /** Tokens that were taken: `cost` or 0. */
  readonly spent: number;
  readonly mode: Mode;
  /** Whether this transaction lets the batch pass. A `spend-only` does, unless its id is blocked. */
  readonly allowed: boolean;
  /** Whether an override blocks the id: the other figures are then 0, and the waits `Infinity`. */
  readonly blocked: boolean;
  /** Whether the limit is `hidden`: no field and no problem details name it. */
  readonly hidden: boolean;
  /**
   * Milliseconds until the same cost fits, rounded up to 0.001: one microsecond sooner it is refused, at that moment
   * it passes. 0 when allowed, `Infinity` when blocked.
   */
  readonly retryAfterMs: number;
}

/** What came of a batch; `unavailable` when its store can't answer and a limit is `closed` then. */
export type Outcome = 'allowed' | 'denied' | 'unavailable';

/**
 * What came of a batch. The figures are those of the strictest transaction that checks: blocked before denied, denied
 * before allowed, then
 * the longer wait (for allowed ones: until the same transaction would pass again), then the fewer remaining, then the
 * order given.
 */
export class Decision {
  /** `unavailable`: the store can't answer, and a limit is `closed` then. */
  readonly outcome: Outcome;
  readonly allowed: boolean;
  /**
   * Whether an override blocks an id of the batch. The outcome is then `denied`, no store was asked, and `results` has
   * the blocked ids alone.
   */
  readonly blocked: boolean;
  /** The strictest limit; `null` when no limit applied. */
  readonly limit: string | null;
  readonly id: string | null;
  /** Whole tokens that the strictest bucket has left; `Infinity` when no limit applied. */
  readonly remaining: number;
  /** Milliseconds until the same batch can pass, if nothing else comes; 0 when allowed, `Infinity` when blocked. */
  readonly retryAfterMs: number;
  /** Milliseconds until the strictest bucket is full again; `Infinity` when blocked. */
  readonly resetAfterMs: number;
  /** What came of every transaction, in the order given. Unlimited ids are left out. */
  readonly results: readonly Result[];
  /** Set when a failure policy decided instead of the store: which one, and why. */
  readonly failure?: Failure;
  readonly #ruling: Ruling;

  /** @param figures - Those of the strictest result. */
  constructor(ruling: Ruling, outcome: Outcome, figures: DecisionFigures, results: readonly Result[]) {
    this.outcome = outcome;
    this.allowed = outcome === 'allowed';
    this.limit = figures.limit;
    this.id = figures.id;
    this.blocked = figures.blocked;
    this.remaining = figures.remaining;
    this.retryAfterMs = figures.retryAfterMs;
    this.resetAfterMs = figures.resetAfterMs;
    this.results = results;
    if (ruling.failure !== undefined) this.failure = ruling.failure;
    this.#ruling = ruling;
  }

  /** What the store told: for those who give back tokens or write fields, in ticks. */
  static rulingOf(decision: Decision): Ruling {
    return decision.#ruling;
  }
}

/** The figures that stand for a whole decision. */
export type DecisionFigures = Pick<
  Decision,
  'limit' | 'id' | 'blocked' | 'remaining' | 'retryAfterMs' | 'resetAfterMs'
>;

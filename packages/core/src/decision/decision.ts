import type { Failure, BatchAnswer } from './batch-answer.ts';
import type { Mode } from '../store/store.ts';

/**
 * The state of a bucket after a call, with the numbers that apply to its id. During an outage under the policy `local`,
 * these are the bucket and the numbers of this process.
 */
export interface BucketState {
  readonly limit: string;
  readonly id: string;
  /**
   * Whole tokens left that are available without a delay, from 0 to `burst`. For a transaction with a share, those
   * within its share.
   */
  readonly remaining: number;
  /**
   * Milliseconds until the bucket is full if no further request comes, rounded up to 0.001; 0 when it is full. For a
   * used quota, until the end of the period.
   */
  readonly resetAfterMs: number;
  /** The burst that applies to the id; 0 when blocked. */
  readonly burst: number;
  /** How many tokens refill every `periodMs`; 0 when blocked. */
  readonly count: number;
  /** The period in milliseconds; for a quota, the length of the current calendar period. */
  readonly periodMs: number;
  /** Whether the numbers come from an override. */
  readonly overridden: boolean;
}

/** The result of one transaction of a batch. */
export interface Result extends BucketState {
  /** Tokens that the transaction asked for. */
  readonly cost: number;
  /** Tokens that were taken: `cost` or 0; for a `charge`, the whole tokens up to an empty bucket and `maxDebt`. */
  readonly spent: number;
  /** The mode of the transaction. */
  readonly mode: Mode;
  /**
   * Whether this transaction lets the batch pass. Always true for `spend-only` and `charge`, unless the id is blocked.
   */
  readonly allowed: boolean;
  /**
   * Whether an override blocks the id. Then `spent`, `remaining`, `burst` and `count` are 0, and `retryAfterMs` and
   * `resetAfterMs` are `Infinity`.
   */
  readonly blocked: boolean;
  /**
   * Whether the tokens were borrowed from the pool of the limit. The other properties describe the limit's own bucket,
   * because a borrowed token does not mean that there will be another. Always false for a limit that does not borrow.
   */
  readonly borrowed: boolean;
  /** Whether the limit is `hidden`: header fields and problem details do not mention it. */
  readonly hidden: boolean;
  /**
   * Milliseconds until the same cost fits if no other request comes, rounded up to 0.001. It is exact: one microsecond
   * earlier the cost is denied, and after this time it fits; at a limit with `maxWait`, it then has to wait. 0 when
   * allowed, `Infinity` when blocked. For a limit that borrows it is the shorter of the two waits, for its own tokens
   * and for those of the pool; with `fair`, the cost may fit earlier.
   */
  readonly retryAfterMs: number;
}

/**
 * The outcome of a batch. `unavailable`: the store can't answer, and a limit of the batch has the failure policy
 * `closed`.
 */
export type Outcome = 'allowed' | 'denied' | 'unavailable';

/**
 * The decision on a batch. Its figures are those of the strictest transaction whose mode can deny: blocked before
 * denied, denied before allowed; then the longer wait (if allowed, the wait until the same transaction would pass
 * again); then the fewer remaining tokens; then the order of the batch. If there is none, the figures are those
 * of the first.
 */
export class Decision {
  /** Whether the batch was allowed, denied, or could not be decided. */
  readonly outcome: Outcome;
  readonly allowed: boolean;
  /**
   * Whether an override blocks an id of the batch. The outcome is then `denied`, the store was not asked, and `results`
   * contains only the blocked ids.
   */
  readonly blocked: boolean;
  /** The name of the strictest limit; `null` when no limit applied. */
  readonly limit: string | null;
  /** The id of the strictest transaction; `null` when no limit applied. */
  readonly id: string | null;
  /**
   * Whole tokens left in the strictest bucket, within the share of its transaction; 0 when blocked or unavailable,
   * `Infinity` when no limit applied.
   */
  readonly remaining: number;
  /**
   * Milliseconds until the same batch can pass, if no other request comes: 0 when allowed, `Infinity` when blocked,
   * 1000 when unavailable.
   */
  readonly retryAfterMs: number;
  /**
   * Milliseconds until the strictest bucket is full; `Infinity` when blocked, 0 when no limit applied, 1000 when
   * unavailable.
   */
  readonly resetAfterMs: number;
  /**
   * Milliseconds that the request has to wait until its tokens are there, rounded up to 0.001: the longest wait of its
   * limits with `maxWait`. 0 when it can continue at once, and when it is not allowed. For a decision of `check`, the
   * wait that a `spend` would have.
   */
  readonly delayMs: number;
  /**
   * The result of each transaction, in the order of the batch. Unlimited ids are left out, and during an outage also
   * the limits with the policy `open`. Empty when unavailable.
   */
  readonly results: readonly Result[];
  /** Which failure policy decided and why the store did not; not set when the store decided. */
  readonly failure?: Failure;
  readonly #answer: BatchAnswer;

  /** @param figures - The figures of the strictest result. */
  constructor(
    answer: BatchAnswer,
    outcome: Outcome,
    figures: DecisionFigures,
    results: readonly Result[],
    delayMs: number = 0,
  ) {
    this.outcome = outcome;
    this.allowed = outcome === 'allowed';
    this.limit = figures.limit;
    this.id = figures.id;
    this.blocked = figures.blocked;
    this.remaining = figures.remaining;
    this.retryAfterMs = figures.retryAfterMs;
    this.resetAfterMs = figures.resetAfterMs;
    this.delayMs = delayMs;
    this.results = results;
    if (answer.failure !== undefined) this.failure = answer.failure;
    this.#answer = answer;
  }

  /**
   * Whether the service has no room, and no limit of the client's own is exceeded: only load limits and concurrency
   * limits of `everyone()` denied the batch. Over HTTP the response is then a 503.
   */
  get overloaded(): boolean {
    if (this.outcome !== 'denied' || this.blocked) return false;
    const { batch } = this.#answer;
    return this.results.every(({ allowed }, i) => allowed || batch[i]!.treatment.sheds);
  }

  /** Returns the answer that a decision was derived from, in ticks: for refunds and header fields. */
  static answerOf(decision: Decision): BatchAnswer {
    return decision.#answer;
  }
}

/** The figures of a decision as a whole. */
export type DecisionFigures = Pick<
  Decision,
  'limit' | 'id' | 'blocked' | 'remaining' | 'retryAfterMs' | 'resetAfterMs'
>;

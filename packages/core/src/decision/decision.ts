import type { Awaitable } from '../async/awaitable.ts';
import type { Answered, BatchAnswer, Failure } from './batch-answer.ts';
import { addPending } from './pending-tokens.ts';
import type { Result } from './result.ts';
import { deniedResults, resultsOf } from './results.ts';
import { showAsJson } from './show-as-json.ts';

/**
 * The outcome of a batch. `unavailable`: the store can't answer, and a limit of the batch has the failure policy
 * `closed`.
 */
export type Outcome = 'allowed' | 'denied' | 'unavailable';

/** What a decision holds until it is released: slots of concurrency limits. */
export interface Holding {
  /** Never throws or rejects. */
  release(): Awaitable<void>;
  /** Leaves it to expire, because it can't be observed when it is not in use any more. */
  leaveToExpire(): void;
}

/**
 * The state of a decision that has slots, or was corrected. Other decisions have none. A WeakMap would cost the garbage
 * collector more.
 */
export class DecisionState {
  /** What the decision holds, or has held. */
  holding: Holding | undefined = undefined;
  /** The tokens that the decision took, as its limiter tracks them for corrections. */
  spent: unknown = undefined;
  /** Its last settlement. The next one begins after it, and corrects it. */
  settled: Promise<unknown> | undefined = undefined;
  /** Whether limits that were asked for may have no result: of unlimited ids, and of alternatives. */
  declare leavesOut?: true;
}

/**
 * The decision on a batch. Its figures are those of the strictest transaction whose mode can deny: blocked before
 * denied, denied before allowed; then the longer wait (if allowed, the wait until the same transaction would pass
 * again); then the fewer remaining tokens; then the order of the batch. If there is none, the figures are those
 * of the first.
 */
export class Decision implements AsyncDisposable {
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
   * Milliseconds until the same batch can pass, if no other request comes and no tokens are given back meanwhile: 0 when allowed, 1000 when unavailable,
   * `Infinity` when no wait helps, as when blocked.
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
  /** Which failure policy decided and why the store did not; undefined when the store decided. */
  readonly failure: Failure | undefined;
  readonly #answer: BatchAnswer;
  /** The results, once they are read. Until then, whether the store took the tokens. One property, to keep decisions small. */
  #results: readonly Result[] | boolean;
  #state: DecisionState | undefined;

  static {
    showAsJson(this.prototype);
  }

  /**
   * @param figures - The figures of the strictest result.
   * @param results - Undefined for those of a store's answer, which are made when they are read.
   * @param took - Whether the store took the tokens.
   */
  constructor(
    answer: BatchAnswer,
    outcome: Outcome,
    figures: DecisionFigures,
    results?: readonly Result[],
    delayMs: number = 0,
    took: boolean = false,
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
    this.failure = answer.failure;
    this.#answer = answer;
    this.#results = results ?? took;
  }

  /**
   * The result of each transaction, in the order of the batch. Unlimited ids are left out, and during an outage also
   * the limits with the policy `open`. Empty when unavailable.
   */
  get results(): readonly Result[] {
    if (typeof this.#results !== 'boolean') return this.#results;
    const answer = this.#answer as Answered;
    return (this.#results = this.allowed ? resultsOf(answer, true, this.#results) : deniedResults(answer));
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

  /**
   * Releases the slots that the decision holds. Does nothing if it holds none, or if they are released already.
   *
   * @returns A promise that resolves when the store has released them. It never rejects: when the store can't answer, the
   * slots are free when they expire.
   */
  async release(): Promise<void> {
    return this.#state?.holding?.release();
  }

  /** Releases the slots at the end of the block of an `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  /** Returns all properties, with the results, for `JSON.stringify`. */
  toJSON(): object {
    return Object.assign({}, this, { results: this.results });
  }

  /** Returns the answer that a decision was derived from, in ticks: for refunds and header fields. */
  static answerOf(decision: Decision): BatchAnswer {
    return decision.#answer;
  }

  /** Returns what a decision holds, or has held. */
  static holdingOf(decision: Decision): Holding | undefined {
    return decision.#state?.holding;
  }

  /** Returns the state of a decision. The first call makes it. */
  static stateOf(decision: Decision): DecisionState {
    return (decision.#state ??= new DecisionState());
  }
}

/** Lets a decision hold something until it is released. */
export function hold(decision: Decision, holding: Holding): void {
  Decision.stateOf(decision).holding = holding;
}

/**
 * Notes that what a decision took may come back, for the `pending` of denials, until the returned function is called.
 *
 * @param results - Those of the decision that may be settled. Default: all.
 */
export function expectSettlement(decision: Decision, results: readonly Result[] = decision.results): () => void {
  return addPending(Decision.answerOf(decision).owner, results);
}

/** Notes that limits that were asked for may have no result. */
export function leavingOut(decision: Decision): Decision {
  Decision.stateOf(decision).leavesOut = true;
  return decision;
}

/**
 * Returns the decision of alternatives: of the one that passes, or of the one that can pass soonest.
 *
 * @param tried - All but the last are denied.
 */
export function firstDecision(tried: readonly Decision[]): Decision {
  const last = tried.at(-1)!;
  if (last.outcome !== 'denied') return last;
  return tried.reduce((soonest, one) => (one.retryAfterMs < soonest.retryAfterMs ? one : soonest));
}

/** The figures of a decision as a whole. */
export type DecisionFigures = Pick<
  Decision,
  'limit' | 'id' | 'blocked' | 'remaining' | 'retryAfterMs' | 'resetAfterMs'
>;

import type { Failure } from './batch-answer.ts';
import type { Result } from './result.ts';

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
export interface Decision extends AsyncDisposable {
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
  /**
   * `deadline` when the batch was denied because its caller would have given up before it could begin: see the option
   * `deadline` of a middleware, and `within` of `Limiter.spend`. Otherwise undefined.
   */
  readonly reason: 'deadline' | undefined;
  /**
   * The result of each transaction, in the order of the batch. Unlimited ids are left out, and during an outage also
   * the limits with the policy `open`. Empty when unavailable, and when the caller has given up.
   */
  readonly results: readonly Result[];
  /**
   * Whether the service has no room, and no limit of the client's own is exceeded: only load limits and concurrency
   * limits of `everyone()` denied the batch. Over HTTP the response is then a 503.
   */
  readonly overloaded: boolean;

  /**
   * Releases the slots that the decision holds. Does nothing if it holds none, or if they are released already.
   *
   * @returns A promise that resolves when the store has released them. It never rejects: when the store can't answer, the
   * slots are free when they expire.
   */
  release(): Promise<void>;

  /** Releases the slots at the end of the block of an `await using`. */
  [Symbol.asyncDispose](): Promise<void>;

  /** Returns all properties, with the results, for `JSON.stringify`. */
  toJSON(): object;
}

import type { Decision } from '../decision/decision.ts';
import type { BucketState } from '../decision/result.ts';
import type { SpendEntry } from './entry.ts';
import type { Restriction } from './restriction.ts';
import type { Ran, RunOptions, Work } from './run-options.ts';
import type { SpendOptions, SpendSyncOptions } from './spend-options.ts';
import type { Usage } from './usage.ts';

/** What a call of a {@link LimitHandle} asks for beside the id: as in a {@link SpendEntry}. */
export type EntryOptions = Pick<SpendEntry, 'cost' | 'mode' | 'share'>;

/** The options of {@link LimitHandle.run}: those of `Limiter.run`, with the cost of this limit alone. */
export interface HandleRunOptions<T> extends Pick<SpendEntry, 'cost' | 'share'>, RunOptions<T, number> {}

/**
 * One limit of a limiter, for the decisions of one id. Created by `Limiter.limit`; it stays valid after `replace`,
 * as long as there is a limit of its name. A limit with the key `everyone()` needs no id.
 *
 *     const mails = limiter.limit('Mails');
 *     const { allowed, retryAfterMs } = await mails.spend('12345678');
 *
 * All methods but those that end in `Sync` return promises, with every store, and reject with the errors of the methods of
 * the same name of a {@link Limiter}.
 */
export interface LimitHandle {
  /** The name of the limit. */
  readonly name: string;
  /** Decides, and takes the tokens if they are there. See `Limiter.spend`. */
  spend(id?: string, options?: EntryOptions & SpendOptions): Promise<Decision>;
  /**
   * Decides like `spend`, and returns the decision, for code that can't wait.
   *
   * @throws {SluiceError} `ERR_OPTION`, before anything is taken, when the decision would take time: the store does not
   * answer at once, or an `overrides` function returns a promise for the id. And the errors of `spend`.
   */
  spendSync(id?: string, options?: EntryOptions & SpendSyncOptions): Decision;
  /** Makes the decision that `spend` would make, and takes nothing. See `Limiter.check`. */
  check(id?: string, options?: EntryOptions): Promise<Decision>;
  /** Decides like `check`, and returns the decision. The errors are those of `spendSync`. */
  checkSync(id?: string, options?: EntryOptions): Decision;
  /**
   * Takes tokens after the fact, whether they fit or not. See `Limiter.charge`.
   *
   * @param cost - Tokens, a whole number of at least 0. Default: 1.
   * @returns The bucket after the charge; `undefined` for an unlimited or blocked id, and for a charge that was lost.
   */
  charge(id?: string, cost?: number): Promise<BucketState | undefined>;
  /** Restricts a bucket to what is known from elsewhere: see `Limiter.restrict`. */
  restrict(id: string, known: Restriction): Promise<BucketState | undefined>;
  /** The same for a limit with the key `everyone()`. */
  restrict(known: Restriction): Promise<BucketState | undefined>;
  /**
   * Gives tokens back, whoever took them. To give back what one decision took, use `Limiter.refund`, which does so
   * once.
   *
   * @param cost - Tokens, a whole number of at least 0. Default: 1.
   * @returns The bucket after the refund; `undefined` as for `charge`.
   */
  refund(id?: string, cost?: number): Promise<BucketState | undefined>;
  /** Returns what has been used of a quota in its current period. See `Limiter.usage`. */
  usage(id?: string): Promise<Usage>;
  /**
   * Does work by a limit: see `Limiter.run`. A denied decision is a value, and the work is then not begun.
   *
   *     const sent = await mails.run('provider', () => send(mail));
   *     if (!sent.allowed) retryLater(sent.decision.retryAfterMs);
   *
   * @throws {SluiceError} The errors of `Limiter.run`, and `ERR_OPTION` for `settle` at a concurrency limit.
   */
  run<T>(id: string, work: Work<T>, options?: HandleRunOptions<T>): Promise<Ran<T>>;
  /** The same for a limit with the key `everyone()`. */
  run<T>(work: Work<T>, options?: HandleRunOptions<T>): Promise<Ran<T>>;
}

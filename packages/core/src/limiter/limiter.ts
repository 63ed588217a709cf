// The room limiter: what users call: `createLimiter`, and the methods of a limiter.
import type { Decision } from '../decision/decision.ts';
import type { BucketState } from '../decision/result.ts';
import type { BlockEntry } from './block-entry.ts';
import type { CostEntry, FirstOf, SpendEntry } from './entry.ts';
import type { LimitHandle } from './limit-handle.ts';
import type { LimitDescription } from './limit-description.ts';
import type { RestrictEntry } from './restriction.ts';
import type { Ran, RunOptions, Work } from './run-options.ts';
import type { Settlement, TrueCosts } from './settlement.ts';
import type { SpendOptions, SpendSyncOptions } from './spend-options.ts';
import type { Usage } from './usage.ts';
import type { StoreStatus } from '../failure/store-health.ts';
import type { LimitSetOptions } from '../definitions/limit-set.ts';
import type { ReadyOptions } from '../store/ready-options.ts';
import type { StoreBlock, Store } from '../store/store.ts';

/**
 * Decides requests by named limits. Created by {@link createLimiter}; works with and without HTTP.
 *
 * Which call to use:
 *
 * - {@link Limiter.spend} decides now and takes the tokens. This is the usual call. With `hold: true` it also takes slots
 *   of concurrency limits, and with `wait: true` it waits for the delay of the decision at limits with `maxWait`.
 * - {@link Limiter.check} makes the same decision and takes nothing, for example to show how much is left. It reserves
 *   nothing: before a later `spend`, other requests may have taken the tokens.
 * - {@link Limiter.charge} takes tokens without deciding, whether they fit or not. Use it when the cost is known only
 *   after the work, or when only failures cost something: `check` before a login, `charge` after a failed one.
 * - {@link Limiter.restrict} lowers what is left to what somebody else reports, such as an API that has answered 429.
 * - {@link Limiter.refund} gives tokens back: those of a decision, when the work was not done, or a number of tokens to
 *   named buckets.
 * - {@link Limiter.settle} corrects the cost of a decision when the true one is known, and {@link Limiter.run} does all of it
 *   around one piece of work.
 * - {@link Limiter.reset} fills whole buckets, and {@link Limiter.block} denies an id for some time. They are meant for operators.
 * - {@link Limiter.limit} returns a handle with the same calls for one limit.
 *
 * All of them return promises, with every store. {@link Limiter.spendSync} and {@link Limiter.checkSync} decide at once
 * where the store can, as the memory store does. What a call does at once, it does before it returns: the tokens of two
 * calls without `await` are taken in their order.
 *
 * Wrong arguments reject the promise: `ERR_OPTION`, `ERR_UNKNOWN_OPTION` for a property that the call does not accept,
 * `ERR_UNKNOWN_LIMIT`, `ERR_ID`, `ERR_COST`, `ERR_DUPLICATE_BUCKET`, and `ERR_CLOSED` after `close()`.
 *
 * A store that can't answer is an error of `reset`, `block`, `unblock` and `blocked` only. For decisions and charges, each
 * limit's failure policy applies; a refund is lost, with an event.
 *
 * `Request` is the type of the request that keys read ids from. `Name` is the union of the limits' names as passed to
 * `createLimiter`, or `string` where they are known only at run time. A `Limiter<Request>` accepts any name.
 */
export interface Limiter<Request = unknown, Name extends string = string> {
  /**
   * Returns one limit by itself, for code that decides single ids of it again and again: the limit is looked up once, and a
   * call takes the id alone.
   *
   *     const mails = limiter.limit('Mails');
   *     const { allowed } = await mails.spend('12345678');
   *
   * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`.
   */
  limit(name: Name): LimitHandle;
  /**
   * Decides a batch, and takes tokens from all its buckets or from none.
   *
   * Given alternatives, `spend({ firstOf: [entries, entries] })`, it tries them in order, in one call of the store, and
   * decides by the first that passes; only that one takes tokens. If all are denied, the decision is that of the
   * alternative with the shortest wait. An alternative of which all ids are unlimited passes, and those after it do not
   * count. An alternative with a blocked id is denied. When the store can't answer, the failure policies decide the
   * alternatives in the same order; a limit with the policy `closed` in any of them makes the decision unavailable.
   *
   * **With `hold: true`**, concurrency limits may be among the entries. If the decision is allowed, it holds their slots
   * until it is released. They are renewed while it is not, however long the work takes:
   *
   *     await using decision = await limiter.spend([{ limit: 'InFlight', id: 'backend' }], { hold: true });
   *     if (decision.allowed) await work();
   *
   * Without `await using`, call `decision.release()` in a `finally` block. A middleware releases its slots by itself when
   * the response is over. The slots of a decision that the program drops are free when they expire, and the first time for
   * each limit there is an event `warning`. `check` and `reset` accept concurrency limits without an option.
   *
   * **With `wait: true`**, the promise resolves when the delay of the decision is over, never earlier by the clock of the
   * limiter. A decision that is denied, or has no delay, resolves at once:
   *
   *     const decision = await limiter.spend([{ limit: 'Exports', id: 'backend' }], { wait: true, signal });
   *     if (decision.allowed) await startExport();
   *
   * When the wait is ended early, by the signal or by `close`, the decision leaves the queue: its slots are released, and
   * its tokens are given back as soon as no other decision waits behind it. With `hold` as well, tokens and slots are still
   * one decision: a full slot denies at once and takes nothing, and slots that were taken are held during the wait.
   *
   * @throws {SluiceError} `ERR_COST_OVER_BURST` when a cost exceeds the burst, or the entry's share of it, so that it
   * could never pass. `ERR_OPTION` for alternatives when the store has no method `spendFirst`, and for a concurrency
   * limit without `hold: true`, or in alternatives. Rejects with the reason of the signal when it is aborted, and with
   * `ERR_CLOSED` when the limiter is closed while the decision waits. With a signal that is already aborted, nothing is
   * taken.
   */
  spend(entries: readonly SpendEntry<Name>[] | FirstOf<Name>, options?: SpendOptions): Promise<Decision>;
  /**
   * Decides like {@link Limiter.spend}, and returns the decision, for code that can't wait. Its only option is `hold`.
   *
   * @throws {SluiceError} `ERR_OPTION`, before anything is taken, when the decision would take time: the store does not
   * answer at once, or an `overrides` function returned a promise. And the errors of `spend`.
   */
  spendSync(entries: readonly SpendEntry<Name>[] | FirstOf<Name>, options?: SpendSyncOptions): Decision;
  /**
   * Makes the decision that {@link Limiter.spend} would make, and takes nothing.
   *
   * @throws {SluiceError} `ERR_COST_OVER_BURST` and `ERR_OPTION` as `spend`.
   */
  check(entries: readonly SpendEntry<Name>[] | FirstOf<Name>): Promise<Decision>;
  /** Decides like {@link Limiter.check}, and returns the decision. The errors are those of `spendSync`. */
  checkSync(entries: readonly SpendEntry<Name>[] | FirstOf<Name>): Decision;
  /**
   * Takes tokens after the fact, whether they fit or not. A cost above what is left, even above the burst, leaves the
   * bucket empty, or in debt by at most the `maxDebt` of its limit.
   *
   * When the store can't answer, the charges of limits with the policy `local` are taken in this process; the others
   * are lost, with an event `charge-lost`.
   *
   * @returns The buckets after the charge. Unlimited and blocked ids and lost charges are left out.
   */
  charge(entries: readonly CostEntry<Name>[]): Promise<readonly BucketState[]>;
  /**
   * Restricts buckets to what is known from elsewhere, for example from an API that has answered 429 with a Retry-After.
   * With `forMs`, a request of cost 1 waits at least that long; with `remaining`, at most so many tokens are left:
   *
   *     await limiter.restrict([{ limit: 'Api', id: 'api.example.com', forMs: 2000 }]);
   *
   * It never adds tokens. If several processes report the same, clients wait once: what is left becomes what was reported,
   * or stays if it is less. The bucket may be in debt by more than the `maxDebt` of its limit then. {@link Limiter.reset}
   * ends it, and {@link Limiter.replace} by a higher limit may shorten it.
   *
   * When the store can't answer, buckets of limits with the policy `local` are restricted in this process; other
   * restrictions are lost, with an event `charge-lost`.
   *
   * @returns The buckets after it. Unlimited and blocked ids and lost restrictions are left out.
   * @throws {SluiceError} `ERR_OPTION` when neither is given, and for a limit that is not a rate, borrows or has an `overshoot`:
   * its bucket alone does not decide.
   */
  restrict(entries: readonly RestrictEntry<Name>[]): Promise<readonly BucketState[]>;
  /**
   * Gives tokens back. A bucket is filled at most.
   *
   * For a decision of this limiter: gives back what the decision took, once, minus what has refilled since. A denied
   * decision, and one of `check`, took nothing, so nothing is given back. For entries, which name buckets: gives back
   * the whole cost, whoever took it.
   *
   * When the store can't answer, the tokens stay taken, with an event `refund-lost`. The call then returns `[]`, and
   * can be repeated.
   *
   * @returns The buckets after the refund. Unlimited and blocked ids are left out, and so are borrowed tokens: they do
   * not change the own bucket, and the ceiling and the pool are not reported.
   * @throws {SluiceError} `ERR_FOREIGN_DECISION` for a decision of another limiter.
   */
  refund(what: Decision | readonly CostEntry<Name>[]): Promise<readonly BucketState[]>;
  /**
   * Corrects what a decision of this limiter has taken, when its true costs are known: gives back what was taken above
   * them, minus what has refilled since, or charges what is missing, at most to an empty bucket and its `maxDebt`.
   *
   *     const decision = await limiter.spend([{ limit: 'Tokens', id: '12345678', cost: estimate }]);
   *     // …
   *     await limiter.settle(decision, { Tokens: 1234 });
   *
   * A second call corrects the first one. A quota whose period has ended since is left as it is, and so is a decision that
   * was denied, or made by a failure policy: see {@link Settlement.outcome}.
   *
   * @param costs - True costs by the names of limits, whole numbers of at least 0. Limits that are left out are not
   * changed.
   * @returns What was done at each of these limits.
   * @throws {SluiceError} `ERR_FOREIGN_DECISION` for a decision of another limiter, `ERR_UNKNOWN_LIMIT`, `ERR_COST`, and
   * `ERR_OPTION` for a concurrency limit or a load limit, for a limit that was not in the entries of the decision, and for
   * one of which it is about several ids.
   */
  settle(decision: Decision, costs: TrueCosts<Name>): Promise<readonly Settlement[]>;
  /**
   * Does work by several limits: decides them together like {@link Limiter.spend} with `hold` and `wait`, begins the work
   * when the longest delay is over, releases its slots when it has ended, and settles its costs. A denied decision is a
   * value, and the work is then not begun.
   *
   *     const ran = await limiter.run([{ limit: 'Tokens', id, cost: estimate }, { limit: 'Running', id }], () => ask(prompt), {
   *       settle: (answer) => ({ Tokens: answer?.tokens ?? 0 }),
   *     });
   *     if (!ran.allowed) retryLater(ran.decision.retryAfterMs);
   *
   * @param work - If it throws or rejects, `run` rejects with the same error, after its costs are settled.
   * @throws {SluiceError} Rejects with the errors of `spend`, and with the reason of the signal when it is aborted before
   * the work begins: what was taken is then given back.
   */
  run<T>(
    entries: readonly SpendEntry<Name>[] | FirstOf<Name>,
    work: Work<T>,
    options?: RunOptions<T, TrueCosts<Name>>,
  ): Promise<Ran<T>>;
  /**
   * Returns what has been used of quotas in their current periods, for example for a billing page. It takes no tokens.
   *
   * @returns One object for each entry, in the same order. For an unlimited id `used` is 0, because its requests are
   * not counted, and `count` is `Infinity`. For a blocked id all numbers are 0.
   * @throws {SluiceError} `ERR_OPTION` for a limit that is a rate: use `check`. Rejects with `ERR_STORE_UNAVAILABLE`
   * when the store can't answer, with every failure policy: a policy knows only a part of the count.
   */
  usage(entries: readonly (CostEntry<Name> & { readonly cost?: never })[]): Promise<readonly Usage[]>;
  /**
   * Describes how a limit is decided: exactly, or by leases, and then by how much it may be exceeded at most. For logs, and
   * for choosing an `overshoot`:
   *
   *     console.log(limiter.describe('Orders').text);
   *
   * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`.
   */
  describe(name: Name): LimitDescription;
  /**
   * Fills buckets, and frees all slots of concurrency limits. Slots that other processes have in use count again as soon as
   * these renew them, within a third of their `expiry`.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE` when the store can't answer: some of the buckets may
   * then be full.
   */
  reset(entries: readonly (CostEntry<Name> & { readonly cost?: never })[]): Promise<void>;
  /**
   * Denies all requests of ids at a limit for some time, whatever is in their buckets, in all processes on the store: like the
   * override `'blocked'`, until the block ends or {@link Limiter.unblock} ends it. It replaces a block of the same id.
   *
   *     await limiter.block([{ limit: 'Orders', id: '12345678', forMs: 7_200_000, reason: 'ticket 4711', by: 'mia' }]);
   *
   * It takes effect at once in this process, and in others a second after a decision at the latest. What they know stays in
   * effect while the store can't answer. It wins over overrides, also over `'unlimited'`; a disabled limit denies nobody. Slots
   * that the id holds stay held. Its end follows the wall clock of each process.
   *
   * @returns The blocks, with canonical ids.
   * @throws {SluiceError} `ERR_OPTION` for a wrong time, reason or name, when the store has 10,000 blocks, or can't have any.
   * Rejects with the errors of the store when it can't answer within a second or `failure.deadlineMs`, whichever is longer:
   * it is then not known whether the ids are blocked.
   */
  block(entries: readonly BlockEntry<Name>[]): Promise<readonly StoreBlock[]>;
  /**
   * Ends blocks, in all processes as {@link Limiter.block}. Buckets are as they were.
   *
   * @returns The blocks that there were. An id without one is left out.
   * @throws {SluiceError} The errors of the store, as for {@link Limiter.block}.
   */
  unblock(
    entries: readonly { readonly limit: Name; readonly id: string; readonly cost?: never }[],
  ): Promise<readonly StoreBlock[]>;
  /**
   * Reads the blocks of the store that have not ended.
   *
   * @param limit - Only those of this limit. Default: of all limits, also of those that this limiter does not have.
   * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, and the errors of the store, as for {@link Limiter.block}.
   */
  blocked(limit?: Name): Promise<readonly StoreBlock[]>;
  /**
   * Replaces all limits and overrides. The new set is validated as a whole and takes effect for all later calls; no
   * request sees a mixture. When `replace` throws, the old set remains in effect. The new set may have other names; the
   * type `Name` does not change.
   *
   * Buckets keep their debt, which is a time. If a limit was raised, the old debt can be longer than an empty bucket of
   * the new limit needs to fill. Such a debt is cut to that once, when a decision meets it, so that the raise takes
   * effect at once. Processes that still use the old numbers may then allow the old burst once more.
   *
   * @throws {SluiceError} The errors of {@link createLimiter}, and `ERR_UNKNOWN_LIMIT`, `ERR_KEY` or
   * `ERR_COST_OVER_BURST` when a middleware of this limiter needs a limit, a key function or a fixed cost that the new
   * set does not allow.
   */
  replace(set: LimitSetOptions<Request>): void;
  /**
   * Resolves when the store can answer. Use it in scripts, which start before their store is connected; a server can
   * start without it, because the failure policies decide until the store answers. The memory store is always ready. A
   * store without a `ready` method counts as ready, unless its latest calls failed: it is then tried once.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE` and the cause when the store can't answer within
   * `timeoutMs` (default: 10,000), with `ERR_CLOSED` when the limiter or the store is closed, and with `ERR_OPTION` or
   * `ERR_UNKNOWN_OPTION` for wrong options.
   */
  ready(options?: ReadyOptions): Promise<void>;
  /** Reports whether the store answers, since when, and how often it has failed. */
  status(): StoreStatus;
  /** The store that the limiter uses, for its statistics, or to pass it to another limiter. */
  readonly store: Store;
  /**
   * Closes the limiter. Charges, refunds and settlements in progress finish first; `close` waits for them for at most
   * one second. Requests that wait because of `maxWait` are answered with 503 at once, and give their tokens back. All
   * slots are released. It
   * closes a store that the limiter created itself, and with `{ store: true }` also one that you passed. Later calls
   * reject with `ERR_CLOSED`, `replace` even while `close` waits; `close` itself can be called again.
   *
   * Close the server first, so that requests in progress can still be decided and settled:
   *
   *     server.close(() => limiter.close({ store: true }));
   *
   * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options.
   */
  close(options?: {
    /**
     * Whether to close a store that you passed to `createLimiter`. It stays open while another limiter uses it. Set this
     * for a store that was created inline, `createLimiter({ …, store: redisStore(…) })`: its connection keeps the process
     * alive. Default: false.
     */
    readonly store?: boolean | undefined;
  }): Promise<void>;
}

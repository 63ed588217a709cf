import { andThen, type Awaitable } from './awaitable.ts';
import { batchOf, checkAffordable, checkId, transactionOf } from './batch.ts';
import { claimNames, releaseNames } from './claims.ts';
import { bucketStates, decisionOf } from './decide.ts';
import { Decision, type BucketState, type Result } from './decision.ts';
import { complaint } from './errors.ts';
import type { Notify } from './events.ts';
import { Deadlines } from './failure/deadlines.ts';
import type { CheckedFailureOptions } from './failure/failure-options.ts';
import type { Ruling } from './failure/ruling.ts';
import { OpenGate } from './failure/open-gate.ts';
import type { StoreGate } from './failure/store-gate.ts';
import { StoreGuard } from './failure/store-guard.ts';
import type { StoreStatus } from './failure/store-health.ts';
import type { ClientAddressFinder } from './http/client-address.ts';
import { checkNeeded, defineLimitSet, limitNamed, type LimitSet, type LimitSetOptions } from './limit-set.ts';
import type { Limit } from './limits.ts';
import { checkOptions, isPlainObject, type Hints } from './options.ts';
import { Receipt } from './receipt.ts';
import type { BucketName, Mode, Store } from './store.ts';
import type { Transaction } from './transaction.ts';

/** A bucket to act on, and how many tokens it is about. */
export interface CostEntry extends BucketName {
  /** Tokens, a whole number from 0 up. Default: 1. */
  readonly cost?: number | undefined;
}

/** One transaction to decide. */
export interface SpendEntry extends CostEntry {
  /** Default: `check-and-spend`. */
  readonly mode?: Mode | undefined;
}

/**
 * Decides requests by named limits. Made by {@link createLimiter}; works with HTTP and without.
 *
 * Every call answers at once (a value) on a store that does, such as the memory store, and by a promise otherwise:
 * `await` works on both. Wrong arguments throw at once, whatever the store: `ERR_UNKNOWN_LIMIT`, `ERR_ID`,
 * `ERR_COST`, `ERR_DUPLICATE_BUCKET`, and `ERR_CLOSED` after `close()`. A store that can't answer is no error but a
 * matter of each limit's failure policy.
 */
export interface Limiter<Request = unknown> {
  /**
   * Decides a batch: takes tokens from all its buckets or from none.
   *
   * @throws {SluiceError} `ERR_COST_OVER_BURST` when a cost exceeds the burst: it could never pass.
   */
  spend(entries: readonly SpendEntry[]): Awaitable<Decision>;
  /** Decides a batch as {@link Limiter.spend} would, and takes nothing. */
  check(entries: readonly SpendEntry[]): Awaitable<Decision>;
  /** Takes tokens after the fact, whether they fit or not: at most to an empty bucket. Unlimited ids are left out. */
  charge(entries: readonly CostEntry[]): Awaitable<readonly BucketState[]>;
  /**
   * Gives tokens back, at most to a full bucket.
   *
   * For a decision: what it took, once, less what has come back by itself since; nothing for what was denied or only
   * checked. For entries: the operator's form, which gives back the whole cost.
   */
  refund(what: Decision | readonly CostEntry[]): Awaitable<readonly BucketState[]>;
  /**
   * Makes buckets full again.
   *
   * @throws {SluiceError} `ERR_STORE_UNAVAILABLE` when the store can't answer.
   */
  reset(entries: readonly BucketName[]): Awaitable<void>;
  /**
   * Swaps limits and overrides, checked as a whole: all following requests see the new ones, none sees half of each.
   * Buckets keep their state, so a raised limit helps at once. When it throws, the old ones go on.
   *
   * @throws {SluiceError} what {@link createLimiter} throws, and `ERR_UNKNOWN_LIMIT`, `ERR_KEY` or
   * `ERR_COST_OVER_BURST` when a middleware that was made with this limiter could not go on.
   */
  replace(set: LimitSetOptions<Request>): void;
  /** Whether the store answers, and since when. */
  status(): StoreStatus;
  /** The store that decides: for its own statistics, and to share it. */
  readonly store: Store;
  /** Ends the limiter; closes the store only when it was not given by you. Later calls are the error `ERR_CLOSED`. */
  close(): Awaitable<void>;
}

/** What a limiter is made of, checked. */
export interface LimiterParts<Request> {
  readonly set: LimitSetOptions<Request>;
  readonly store: Store;
  readonly ownsStore: boolean;
  readonly failure: CheckedFailureOptions;
  readonly overridesDeadlineMs: number;
  readonly notify: Notify;
  readonly clientAddress: ClientAddressFinder;
}

/** The limiter as the packages' own middleware sees it. */
export class LimiterCore<Request = unknown> implements Limiter<Request> {
  readonly store: Store;
  readonly clientAddress: ClientAddressFinder;
  readonly notify: Notify;
  readonly #ownsStore: boolean;
  readonly #gate: StoreGate;
  readonly #overrideDeadlines: Deadlines;
  readonly #failure: CheckedFailureOptions;
  /** The limits that middlewares use, with the highest fixed cost that they ask there. */
  readonly #needed = new Map<string, number>();
  #set: LimitSet<Request>;

  constructor({ set, store, ownsStore, failure, overridesDeadlineMs, notify, clientAddress }: LimiterParts<Request>) {
    this.store = store;
    this.clientAddress = clientAddress;
    this.notify = notify;
    this.#ownsStore = ownsStore;
    this.#failure = failure;
    this.#overrideDeadlines = new Deadlines(overridesDeadlineMs);
    this.#set = this.#defined(set);
    claimNames(store, this, this.#set.limits.keys());
    this.#gate = store.answersAtOnce === true ? new OpenGate(store) : new StoreGuard({ store, failure, notify });
  }

  spend(entries: readonly SpendEntry[]): Awaitable<Decision> {
    return this.spendBatch(this.#batch(entries));
  }

  check(entries: readonly SpendEntry[]): Awaitable<Decision> {
    return andThen(this.#batch(entries), (batch) => {
      checkAffordable(batch);
      return andThen(this.#gate.check(batch), checkedDecision);
    });
  }

  charge(entries: readonly CostEntry[]): Awaitable<readonly BucketState[]> {
    return this.#charge(this.#batch(entries));
  }

  refund(what: Decision | readonly CostEntry[]): Awaitable<readonly BucketState[]> {
    if (what instanceof Decision) return this.receiptOf(what).refund();
    return andThen(this.#batch(what), (batch) =>
      andThen(this.#gate.refund(this.store, batch), (given) => bucketStates(given.batch, given.reading)),
    );
  }

  reset(entries: readonly BucketName[]): Awaitable<void> {
    return andThen(batchOf(checkedEntries(entries).map((entry) => this.#bucket(entry))), (batch) =>
      this.#gate.reset(batch),
    );
  }

  replace(set: LimitSetOptions<Request>): void {
    this.#gate.assertOpen();
    checkOptions('replace', set, ['limits', 'overrides']);
    const next = this.#defined(set);
    for (const [name, cost] of this.#needed) checkNeeded(next, name, cost);
    claimNames(this.store, this, next.limits.keys());
    this.#set = next;
  }

  status(): StoreStatus {
    return this.#gate.status();
  }

  close(): Awaitable<void> {
    releaseNames(this.store, this);
    this.#overrideDeadlines.expireAll();
    return this.#gate.close({ closeStore: this.#ownsStore });
  }

  /** The names of all limits, in the order of their definition. */
  get limitNames(): readonly string[] {
    return [...this.#set.limits.keys()];
  }

  /** The limits and overrides that hold now. */
  get set(): LimitSet<Request> {
    return this.#set;
  }

  /** Gives a limit by name, as it is now. */
  limit(name: string): Limit<Request> {
    this.#gate.assertOpen();
    return limitNamed(this.#set, name);
  }

  /** Keeps a limit that a middleware needs, and its fixed cost payable, through every {@link replace}. */
  requireLimit(name: string, cost: number): void {
    checkNeeded(this.#set, name, cost);
    this.#needed.set(name, Math.max(cost, this.#needed.get(name) ?? 0));
  }

  /** Decides a batch whose ids are canonical. */
  spendBatch(batch: Awaitable<readonly Transaction[]>): Awaitable<Decision> {
    // Written out, unlike the other calls: this is the way of every request.
    return batch instanceof Promise ? batch.then((settled) => this.#spend(settled)) : this.#spend(batch);
  }

  /** What a decision took, to be given back or corrected. One receipt for each decision, whoever asks. */
  receiptOf(decision: Decision): Receipt {
    let receipt = receipts.get(decision);
    if (receipt === undefined) receipts.set(decision, (receipt = new Receipt(decision, this.#gate)));
    return receipt;
  }

  /** Charges what results of decisions name: their ids are canonical, and are not looked at again. */
  chargeResults(results: readonly Result[], cost: number): Awaitable<readonly BucketState[]> {
    const set = this.#set;
    const asks = results.map(({ limit, id, mode }) => ({ limit: this.limit(limit), id, cost, mode }));
    return this.#charge(batchOf(asks.map((ask) => transactionOf(set, ask))));
  }

  /**
   * Corrects what a decision cost at one of its limits: gives back what was too much, charges what is missing. What the
   * store can't take is an event. Of a `spend-only` that did not fit nothing is taken after the fact either.
   *
   * Rejects with `ERR_CLOSED` or `ERR_UNKNOWN_LIMIT` when the limiter or the limit is gone by then.
   */
  async settle(decision: Decision, result: Result, trueCost: number): Promise<void> {
    if (result.mode === 'spend-only' && result.spent < result.cost) return;
    const { given, missing } = this.receiptOf(decision).lower(result.limit, trueCost);
    await given;
    if (missing > 0) await this.chargeResults([result], missing);
  }

  #charge(transactions: Awaitable<readonly Transaction[]>): Awaitable<readonly BucketState[]> {
    return andThen(transactions, (batch) =>
      andThen(this.#gate.charge(batch), (charged) => bucketStates(charged.batch, charged.reading)),
    );
  }

  #spend(batch: readonly Transaction[]): Awaitable<Decision> {
    checkAffordable(batch);
    return andThen(this.#gate.spend(batch), spentDecision);
  }

  #defined(set: LimitSetOptions<Request>): LimitSet<Request> {
    const { onFailure } = this.#failure;
    return defineLimitSet(set, { onFailure, deadlines: this.#overrideDeadlines, notify: this.notify });
  }

  #batch(entries: readonly SpendEntry[]): Awaitable<readonly Transaction[]> {
    this.#gate.assertOpen();
    const set = this.#set;
    return batchOf(
      checkedEntries(entries).map((entry) => {
        checkEntry(entry);
        const { limit: name, id, cost = 1, mode = 'check-and-spend' } = entry;
        const limit = limitNamed(set, name);
        return transactionOf(set, { limit, id: canonicalId(limit, id), cost, mode: checkedMode(mode) });
      }),
    );
  }

  #bucket(entry: BucketName): BucketName {
    checkEntry(entry);
    const limit = this.limit(entry.limit);
    const id = canonicalId(limit, entry.id);
    checkId(limit.name, id);
    return { limit: limit.name, id };
  }
}

const spentDecision = (ruling: Ruling): Decision => decisionOf(ruling, true);
const checkedDecision = (ruling: Ruling): Decision => decisionOf(ruling, false);

const receipts = new WeakMap<Decision, Receipt>();

function canonicalId(limit: Limit<never>, id: unknown): string {
  if (typeof id === 'string') return limit.key.format.canonical(id);
  const remedy = 'Turn numbers into text; never pass undefined: strangers would share a bucket.';
  throw complaint('ERR_ID', { option: `id (of ${limit.name})`, demand: 'a string', value: id, remedy });
}

const ENTRY_FIELDS = ['limit', 'id', 'cost', 'mode'];

function checkEntry(entry: unknown): void {
  // A look at the names alone costs little on the way of every decision; what is wrong is then said at length.
  if (isPlainObject(entry)) {
    let known = true;
    for (const name in entry) known &&= name === 'limit' || name === 'id' || name === 'cost' || name === 'mode';
    if (known) return;
  }
  checkOptions('entries[…]', entry, ENTRY_FIELDS, ENTRY_HINTS);
}

const ENTRY_HINTS: Hints = { key: '`key` is `id` here.', points: '`points` is `cost` here.' };

function checkedMode(mode: Mode): Mode {
  if (mode === 'check-and-spend' || mode === 'check-only' || mode === 'spend-only') return mode;
  const demand = "'check-and-spend', 'check-only' or 'spend-only'";
  throw complaint('ERR_OPTION', { option: 'mode', demand, value: mode });
}

function checkedEntries<T>(entries: readonly T[]): readonly T[] {
  if (Array.isArray(entries)) return entries;
  const remedy = "For example [{ limit: 'Orders', id: '12345678', cost: 1 }].";
  throw complaint('ERR_OPTION', { option: 'entries', demand: 'an array', value: entries, remedy });
}

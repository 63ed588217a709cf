import { andThen, type Awaitable } from '../async/awaitable.ts';
import { batchOf, plainBatchOf, transactionOf, withoutBlocked } from '../decision/batch.ts';
import { isStoreInUse, registerLimitNames, releaseLimitNames } from './limit-name-registry.ts';
import { StoreWall } from '../time/store-wall.ts';
import type { Time } from '../time/time.ts';
import { bucketStates } from '../decision/decide.ts';
import { withChargedLoans } from '../decision/loan.ts';
import { Decision, type BucketState, type Result } from '../decision/decision.ts';
import { alternativesOf, checkSpendFirst } from './alternatives.ts';
import { canonicalId, checkedEntriesOf, checkedMode, checkEntry } from './entries.ts';
import type { EventSink } from '../events/event.ts';
import { Lender } from './lender.ts';
import { Deadlines } from '../time/deadlines.ts';
import { Decider } from './decider.ts';
import type { CheckedFailureOptions } from '../failure/failure-options.ts';
import { closed, OpenGate, type StoreGate } from '../failure/store-gate.ts';
import { StoreGuard } from '../failure/store-guard.ts';
import type { StoreStatus } from '../failure/store-health.ts';
import type { ClientAddressFinder } from '../client/client-address.ts';
import { SetupWatch, type ReceivedRequest } from './setup-watch.ts';
import { defineLimitSet, limitNamed, storedNames, type LimitSet, type LimitSetOptions } from '../limits/limit-set.ts';
import { checkId } from '../ids/id-format.ts';
import type { Limit } from '../limits/limit.ts';
import type {
  CloseOptions,
  CostEntry,
  FirstOf,
  Limiter,
  ResetEntry,
  SpendEntry,
  UsageEntry,
  WaitOptions,
} from './limiter.ts';
import { checkSignal, HeldDecisions, rejectedBy, type HoldEnd, type Leave } from './held-decisions.ts';
import { pressureEvent } from '../store/memory/pressure.ts';
import { markAsMadeHere } from './not-a-limiter.ts';
import { DecisionReports, WITHOUT_HTTP, type OnDecision } from './on-decision.ts';
import { complaint } from '../checks/errors.ts';
import { checkBoolean, checkFunction, checkOptions } from '../checks/options.ts';
import { NeededLimits } from './needed-limits.ts';
import { PendingWork } from './pending-work.ts';
import { QuotaWarnings } from './quota-warnings.ts';
import { usageOf, type Usage } from './usage.ts';
import { PreparedLimits, type UseInput } from './prepared-limits.ts';
import type { ReadyOptions } from '../store/ready-options.ts';
import { RaisedLimits } from './raised-limits.ts';
import type { LateCharge, RequestLimiter } from './request-limiter.ts';
import { foreignDecision, notRefundable, SpentTokens } from './spent-tokens.ts';
import type { Store, StoreBucket, StoreReport } from '../store/store.ts';
import type { Transaction } from '../decision/transaction.ts';

/** The validated parts of a limiter. */
export interface LimiterParts<Request> {
  readonly set: LimitSetOptions<Request>;
  readonly store: Store;
  readonly ownsStore: boolean;
  readonly failure: CheckedFailureOptions;
  readonly overridesDeadlineMs: number;
  readonly emit: EventSink;
  readonly onDecision: OnDecision<Request> | undefined;
  readonly clientAddress: ClientAddressFinder;
  readonly time: Time;
}

/** The limiter: what users call, and what a middleware needs. */
export class LimiterCore<Request = unknown> implements Limiter<Request>, RequestLimiter<Request> {
  readonly store: Store;
  readonly clientAddress: ClientAddressFinder;
  readonly time: Time;
  readonly emit: EventSink;
  readonly #reports: DecisionReports<Request>;
  readonly #ownsStore: boolean;
  readonly #gate: StoreGate;
  readonly #decider: Decider;
  readonly #endStoreReports: (() => void) | undefined;
  readonly #overrideDeadlines: Deadlines;
  readonly #failure: CheckedFailureOptions;
  readonly #needed = new NeededLimits();
  /** Only for decisions with a refund or a settlement. */
  readonly #spentTokens = new WeakMap<Decision, SpentTokens>();
  readonly #raised: RaisedLimits;
  /** The wall clock of the store, as far as it is known. */
  readonly #wall: StoreWall;
  readonly #warnings: QuotaWarnings;
  readonly #work: PendingWork;
  readonly #held: HeldDecisions;
  readonly #watch = new SetupWatch((message) => this.emit({ type: 'warning', message, once: true }));
  #set: LimitSet<Request>;
  /** True from the beginning of `close`, when work in progress may still need the gate. */
  #isClosing = false;

  constructor(parts: LimiterParts<Request>) {
    const { set, store, ownsStore, failure, overridesDeadlineMs, emit, onDecision, clientAddress, time } = parts;
    this.store = store;
    this.clientAddress = clientAddress;
    this.time = time;
    this.emit = emit;
    this.#reports = new DecisionReports({ limiter: this, onDecision, emit, time });
    this.#ownsStore = ownsStore;
    this.#failure = failure;
    this.#overrideDeadlines = new Deadlines(overridesDeadlineMs, time);
    const wall = (this.#wall = new StoreWall(time));
    this.#raised = new RaisedLimits(time);
    this.#work = new PendingWork(time);
    this.#held = new HeldDecisions({ time, refund: (decision) => this.refund(decision) });
    this.#set = this.#defined(set);
    registerLimitNames(store, this, storedNames(this.#set));
    this.#warnings = new QuotaWarnings(emit);
    this.#warnings.changed(this.#set);
    this.#gate =
      store.traits?.answersAtOnce === true
        ? new OpenGate(store, time, wall)
        : new StoreGuard({ store, failure, emit, time, wall });
    this.#decider = new Decider({
      gate: this.#gate,
      raised: this.#raised,
      reports: this.#reports,
      lender: new Lender(time, emit),
      warnings: this.#warnings,
      currentSet: () => this.#set,
    });
    this.#endStoreReports = this.#watchedStore();
  }

  /**
   * Whether a value is a limiter that this copy of the package created. An object that wraps one, such as a Proxy,
   * lacks its private fields.
   */
  static isCore(value: unknown): value is LimiterCore {
    return typeof value === 'object' && value !== null && #gate in value;
  }

  spend(entries: readonly SpendEntry[] | FirstOf): Awaitable<Decision> {
    if (!Array.isArray(entries)) return this.#spendFirst(entries as FirstOf);
    const transactions = this.#transactions(entries);
    const batch = this.#reports.isNeeded ? undefined : plainBatchOf(transactions);
    return batch === undefined ? this.#spendReported(batchOf(transactions)) : this.#decider.askStore('spend', batch);
  }

  spendAndWait(entries: readonly SpendEntry[] | FirstOf, options: WaitOptions = {}): Promise<Decision> {
    checkOptions('spendAndWait', options, ['signal']);
    const { signal } = options;
    checkSignal(signal);
    if (signal?.aborted === true) return rejectedBy(signal);
    const decided = this.spend(entries);
    // Without a tick between a decision that is there at once and its wait: `close` then finds it.
    return decided instanceof Promise
      ? decided.then((decision) => this.#held.wait(decision, signal))
      : this.#held.wait(decided, signal);
  }

  check(entries: readonly SpendEntry[] | FirstOf): Awaitable<Decision> {
    if (!Array.isArray(entries)) return this.#decideFirst('check', entries as FirstOf);
    return andThen(batchOf(this.#transactions(entries)), (batch) => this.#decider.decide('check', batch));
  }

  charge(entries: readonly CostEntry[]): Awaitable<readonly BucketState[]> {
    return this.#charge(this.#costBatch('charge', entries));
  }

  refund(what: Decision | readonly CostEntry[]): Awaitable<readonly BucketState[]> {
    if (what instanceof Decision) return this.#work.track(this.#spentTokensOf(what).refund());
    if (!Array.isArray(what)) throw notRefundable(what);
    const refunded = andThen(this.#costBatch('refund', what), (batch) =>
      andThen(this.#gate.refund(this.store, withChargedLoans(withoutBlocked(batch))), (given) =>
        bucketStates(given.batch, given.reading),
      ),
    );
    return this.#work.track(refunded);
  }

  usage(entries: readonly UsageEntry[]): Awaitable<readonly Usage[]> {
    return usageOf(this.#openSet(), entries, (batch) => this.#gate.read(batch));
  }

  reset(entries: readonly ResetEntry[]): Awaitable<void> {
    this.#gate.assertOpen();
    const set = this.#set;
    return andThen(batchOf(checkedEntriesOf('reset', entries).map((entry) => bucketOf(set, entry))), (batch) =>
      this.#gate.reset(batch.flatMap((bucket) => bucketsOf(set, bucket))),
    );
  }

  replace(set: LimitSetOptions<Request>): void {
    // From now on other limiters may use the names.
    if (this.#isClosing) throw closed();
    checkOptions('replace', set, ['limits', 'overrides']);
    const next = this.#defined(set);
    this.#needed.check(next);
    registerLimitNames(this.store, this, storedNames(next));
    this.#raised.changed(this.#set, next);
    this.#warnings.changed(next);
    this.#set = next;
  }

  ready(options?: ReadyOptions): Promise<void> {
    return this.#gate.ready(options);
  }

  status(): StoreStatus {
    return this.#gate.status();
  }

  close(options: CloseOptions = {}): Awaitable<void> {
    checkOptions('close', options, ['store']);
    checkBoolean('close.store', options.store);
    this.#isClosing = true;
    releaseLimitNames(this.store, this);
    this.#endStoreReports?.();
    this.#held.close();
    return andThen(this.#work.ended(), () => {
      this.#overrideDeadlines.expireAll();
      this.#gate.close();
      const closesStore = (this.#ownsStore || options.store === true) && !isStoreInUse(this.store);
      return closesStore ? this.store.close() : undefined;
    });
  }

  /** The names of all limits, in the order of their definition. */
  get limitNames(): readonly string[] {
    return [...this.#set.limits.keys()];
  }

  /** The limits in effect by name, for packages that list or compare them. */
  get limits(): ReadonlyMap<string, Limit<Request>> {
    return this.#set.limits;
  }

  assertLimit(name: string): void {
    limitNamed(this.#openSet(), name);
  }

  /**
   * Registers a limit that a middleware uses, its fixed cost and its fixed share: {@link replace} then rejects a set in
   * which they are not valid.
   */
  requireLimit(limit: string, cost: number, share = 1): void {
    this.#needed.add(this.#set, [{ limit, cost, mode: 'check-and-spend', share }]);
  }

  prepare(uses: readonly UseInput<Request>[]): PreparedLimits<Request> {
    this.#needed.add(this.#set, uses);
    return new PreparedLimits(uses, {
      currentSet: () => this.#openSet(),
      decide: (batch) => this.#decider.decide('spend', batch),
    });
  }

  watchRequest(request: ReceivedRequest, decision: Decision): void {
    this.#watch.look(this.#set, request, decision);
  }

  reportDecision(decision: Decision, request: Request, shadow: boolean): void {
    if (this.#reports.isNeeded) this.#reports.report(decision, { request, shadow });
  }

  chargeResults(results: readonly Result[], { cost, request }: LateCharge): Awaitable<readonly BucketState[]> {
    const set = this.#openSet();
    const asks = results.map(({ limit, id, mode }) => ({ limit: limitNamed(set, limit), id, cost, mode, share: 1 }));
    return this.#charge(batchOf(asks.map((ask) => transactionOf(set, ask, request))));
  }

  async settle(decision: Decision, result: Result, { cost: trueCost, request }: LateCharge): Promise<void> {
    if (result.mode === 'spend-only' && result.spent < result.cost) return;
    const missing = await this.#spentTokensOf(decision).settleTo(result.limit, trueCost);
    if (missing > 0) await this.chargeResults([result], { cost: missing, request });
  }

  hold(decision: Decision, end: (how: HoldEnd) => void): Leave {
    return this.#held.hold(decision, end);
  }

  trackWork<T>(work: Awaitable<T>): Awaitable<T> {
    return this.#work.track(work);
  }

  #reported(made: Awaitable<Decision>): Awaitable<Decision> {
    return andThen(made, (decision) => {
      this.#reports.report(decision, WITHOUT_HTTP);
      return decision;
    });
  }

  /** Returns the function that ends the reports of the store. When it throws, the names of the limits are free again. */
  #watchedStore(): (() => void) | undefined {
    try {
      const end = this.store.watch?.((report) => this.#noteStoreReport(report));
      checkFunction('store.watch(…)', end, 'It removes the listener: return () => listeners.delete(listener).');
      return end;
    } catch (error) {
      releaseLimitNames(this.store, this);
      throw error;
    }
  }

  #noteStoreReport(report: StoreReport): void {
    if (this.#isClosing) return;
    if (report.type === 'pressure') this.emit(pressureEvent(report));
    else this.#gate.noteReport(report);
  }

  /** @throws {SluiceError} `ERR_CLOSED` after `close`. */
  #openSet(): LimitSet<Request> {
    this.#gate.assertOpen();
    return this.#set;
  }

  #spentTokensOf(decision: Decision): SpentTokens {
    let spent = this.#spentTokens.get(decision);
    if (spent === undefined) {
      if (Decision.answerOf(decision).owner !== this.#gate) throw foreignDecision();
      this.#spentTokens.set(decision, (spent = new SpentTokens(decision, this.#gate)));
    }
    return spent;
  }

  #charge(transactions: Awaitable<readonly Transaction[]>): Awaitable<readonly BucketState[]> {
    const charged = andThen(transactions, (batch) =>
      andThen(this.#gate.charge(withChargedLoans(withoutBlocked(batch))), (change) => {
        // A charge of the local store counts only a part of a quota.
        if (this.#warnings.areNeeded && change.store === this.store) this.#warnings.lookAtCharge(change);
        return bucketStates(change.batch, change.reading);
      }),
    );
    return this.#work.track(charged);
  }

  // The rare cases have a function of their own, which may create closures: see docs/hot-path.md.
  #spendReported(batch: Awaitable<readonly Transaction[]>): Awaitable<Decision> {
    const decision = andThen(batch, (settled) => this.#decider.decide('spend', settled));
    return this.#reports.isNeeded ? this.#reported(decision) : decision;
  }

  #spendFirst(input: FirstOf): Awaitable<Decision> {
    const decision = this.#decideFirst('spend', input);
    return this.#reports.isNeeded ? this.#reported(decision) : decision;
  }

  #decideFirst(call: 'spend' | 'check', input: FirstOf): Awaitable<Decision> {
    const set = this.#openSet();
    const made = alternativesOf(input, this.store, (entry) => asked(set, entry));
    return andThen(made, (alternatives) => this.#decider.decideFirst(call, alternatives));
  }

  #defined(set: LimitSetOptions<Request>): LimitSet<Request> {
    const { onFailure } = this.#failure;
    const context = { onFailure, deadlines: this.#overrideDeadlines, emit: this.emit, wall: this.#wall };
    const defined = defineLimitSet(set, context);
    checkStoreOf(defined, this.store);
    return defined;
  }

  /** The batch of a call whose entries have no mode and no share. */
  #costBatch(call: 'charge' | 'refund', entries: readonly CostEntry[]): Awaitable<readonly Transaction[]> {
    this.#gate.assertOpen();
    return batchOf(this.#transactions(checkedEntriesOf(call, entries)));
  }

  #transactions(entries: readonly (SpendEntry | CostEntry)[]): readonly Awaitable<Transaction | null>[] {
    const set = this.#openSet();
    // A loop over a preallocated array: see docs/hot-path.md.
    // oxlint-disable-next-line unicorn/no-new-array
    const transactions = new Array<Awaitable<Transaction | null>>(entries.length);
    for (let i = 0; i < entries.length; i++) transactions[i] = asked(set, entries[i]!);
    return transactions;
  }
}

markAsMadeHere(LimiterCore.prototype);

/** Rejects limits that a store can't carry. */
function checkStoreOf({ limits }: LimitSet<never>, store: Store): void {
  const borrower = [...limits.values()].find(({ borrow }) => borrow !== undefined);
  if (borrower !== undefined) {
    const remedy = 'Implement the method, use memoryStore() or redisStore(), or remove `borrow` from the limit.';
    checkSpendFirst(store, `the limit "${borrower.name}", which borrows,`, remedy);
  }
  const quota = [...limits.values()].find(({ calendar }) => calendar !== undefined);
  if (quota === undefined || store.traits?.periods === true) return;
  throw complaint('ERR_OPTION', {
    option: 'store',
    demand: `a store with the trait \`periods\`, because limit "${quota.name}" is a quota`,
    value: store,
    remedy:
      'The memory store and the Redis store have it. For another one, see CalendarPeriod in docs/writing-a-store.md.',
  });
}

function asked(set: LimitSet<never>, entry: SpendEntry | CostEntry): Awaitable<Transaction | null> {
  checkEntry(entry);
  const { limit: name, id, cost = 1, mode = 'check-and-spend', share = 1 } = entry;
  const limit = limitNamed(set, name);
  return transactionOf(set, { limit, id: canonicalId(limit, id), cost, mode: checkedMode(mode), share }, undefined);
}

/** The bucket of a limit that borrows has another beside it, that of the ceiling. */
function bucketsOf(set: LimitSet<never>, bucket: StoreBucket): readonly StoreBucket[] {
  const { borrowing } = limitNamed(set, bucket.limit).treatment;
  return borrowing === undefined ? [bucket] : [bucket, { limit: borrowing.ceilingName, id: bucket.id }];
}

function bucketOf(set: LimitSet<never>, { limit: name, id: text }: ResetEntry): StoreBucket {
  const limit = limitNamed(set, name);
  const id = canonicalId(limit, text);
  checkId(limit.name, id);
  return { limit: name, id, calendar: limit.calendar?.of(id).name };
}

import { andThen, type Awaitable } from '../async/awaitable.ts';
import { checkBoolean, checkOptions } from '../checks/options.ts';
import type { ClientAddressFinder } from '../client/client-address.ts';
import { batchOf } from '../decision/batch.ts';
import type { Decided } from '../decision/decided.ts';
import type { Decision } from '../decision/decision.ts';
import type { BucketState, Result } from '../decision/result.ts';
import type { Transaction } from '../decision/transaction.ts';
import type { EventSink } from '../events/event.ts';
import { closed } from '../failure/store-gate.ts';
import type { StoreStatus } from '../failure/store-health.ts';
import {
  checkFixedCost,
  limitNamed,
  type FixedCost,
  type LimitSet,
  type LimitSetOptions,
} from '../definitions/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import { pressureEvent } from '../store/memory/pressure.ts';
import type { ReadyOptions } from '../store/ready-options.ts';
import type { StoreBlock, BucketName, Store, StoreReport } from '../store/store.ts';
import type { Time } from '../time/time.ts';
import { watchedStore } from './accepted-store.ts';
import { alternativesOf } from './alternatives.ts';
import { assertAtOnce } from './at-once.ts';
import type { BlockEntry } from './block-entry.ts';
import type { Blocking } from './blocking.ts';
import type { CostEntry, FirstOf, SpendEntry } from './entry.ts';
import { checkCall, type EntryCall } from './entry-calls.ts';
import type { WaitEnd, Leave } from './queued-decisions.ts';
import { bucketsToReset, transactionOfEntry, transactionsOf } from './entries.ts';
import type { ScheduledCalls } from './scheduled-calls.ts';
import type { LimitHandle } from './limit-handle.ts';
import { describedLimit, type LimitDescription } from './limit-description.ts';
import { isStoreInUse } from './limit-name-registry.ts';
import type { Limiter } from './limiter.ts';
import { partsOf, type LimiterParts, type LimiterSetup } from './limiter-parts.ts';
import { markAsMadeHere } from './not-a-limiter.ts';
import type { Observer } from './observer.ts';
import { PreparedLimit } from './prepared-limit.ts';
import { PreparedLimits, type UseInput } from './prepared-limits.ts';
import type { DecidedRequest, LateCharge, RequestLimiter } from './request-limiter.ts';
import { WITHOUT_HTTP } from './reports.ts';
import type { RestrictEntry } from './restriction.ts';
import { run } from './run.ts';
import type { Ran, RunOptions, Work } from './run-options.ts';
import type { Settlement, TrueCosts } from './settlement.ts';
import { SetupWatch } from './setup-watch.ts';
import {
  checkSpendOptions,
  checkSpendSyncOptions,
  spentBy,
  type SpendOptions,
  type SpendSyncOptions,
  type Spent,
} from './spend-options.ts';
import { usageOf, type Usage } from './usage.ts';
import { whenItsTurn } from './waiting.ts';

/** The limiter: what users call, and what a middleware needs. */
export class LimiterCore<Request = unknown> implements Limiter<Request>, RequestLimiter<Request> {
  readonly store: Store;
  readonly clientAddress: ClientAddressFinder;
  readonly trustsProxies: boolean;
  readonly time: Time;
  readonly emit: EventSink;
  readonly #ownsStore: boolean;
  readonly #parts: LimiterParts<Request>;
  readonly #watch = new SetupWatch((message) => this.emit({ type: 'warning', message, once: true }));
  readonly #endStoreReports: (() => void) | undefined;
  /** The schedulers that work by this limiter, for metrics. */
  readonly schedulers: Set<ScheduledCalls> = new Set<ScheduledCalls>();
  /** True from the beginning of `close`, when work in progress may still need the gate. */
  #isClosing = false;

  constructor(setup: LimiterSetup<Request>) {
    this.store = setup.store;
    this.clientAddress = setup.clientAddress;
    this.trustsProxies = setup.trustsProxies;
    this.time = setup.time;
    this.emit = setup.emit;
    this.#ownsStore = setup.ownsStore;
    this.#parts = partsOf(setup, this);
    this.#endStoreReports = this.#watchedStore();
  }

  /**
   * Whether a value is a limiter that this copy of the package created. An object that wraps one, such as a Proxy,
   * lacks its private fields.
   */
  static isCore(value: unknown): value is LimiterCore {
    return typeof value === 'object' && value !== null && #parts in value;
  }

  limit(name: string): LimitHandle {
    this.#parts.gate.assertOpen();
    return new PreparedLimit(name, { limiter: this, limits: this.#parts.limits, decider: this.#parts.decider });
  }

  // As an async function does it, without a promise beside that of a store.
  spend(entries: readonly SpendEntry[] | FirstOf, options?: SpendOptions): Promise<Decision> {
    try {
      return Promise.resolve(
        options === undefined ? this.#decide('spend', entries) : this.#spendInTurn(entries, options),
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async check(entries: readonly SpendEntry[] | FirstOf): Promise<Decision> {
    return this.#decide('check', entries);
  }

  spendSync(entries: readonly SpendEntry[] | FirstOf, options?: SpendSyncOptions): Decision {
    if (options === undefined) return this.#decideAtOnce('spend', entries);
    checkSpendSyncOptions(options);
    return this.#decideAtOnce('spend', entries, spendCallOf(options), spentBy(options, this.time));
  }

  checkSync(entries: readonly SpendEntry[] | FirstOf): Decision {
    return this.#decideAtOnce('check', entries);
  }

  #spendInTurn(entries: readonly SpendEntry[] | FirstOf, options: SpendOptions): Awaitable<Decided> {
    checkSpendOptions(options);
    const spent = spentBy(options, this.time);
    return whenItsTurn(() => this.#decide('spend', entries, spendCallOf(options), spent), this.#parts.queued, options);
  }

  #decide(
    call: 'spend' | 'check',
    entries: readonly SpendEntry[] | FirstOf,
    entryCall: EntryCall = call,
    spent?: Spent,
  ): Awaitable<Decided> {
    if (!Array.isArray(entries))
      return this.#parts.decider.decideFirst(call, this.#alternatives(entries as FirstOf), spent);
    return this.#parts.decider.decideMade(call, transactionsOf(this.#openSet(), entryCall, entries), spent);
  }

  #decideAtOnce(
    call: 'spend' | 'check',
    entries: readonly SpendEntry[] | FirstOf,
    entryCall: EntryCall = call,
    spent?: Spent,
  ): Decided {
    if (!Array.isArray(entries)) {
      const alternatives = this.#alternatives(entries as FirstOf);
      assertAtOnce(call, this.#answersAtOnce, [alternatives]);
      return this.#parts.decider.decideFirst(call, alternatives, spent) as Decided;
    }
    const made = transactionsOf(this.#openSet(), entryCall, entries);
    return this.#parts.decider.decideMadeAtOnce(call, made, spent);
  }

  /** Makes the batch that `spend` with `hold` would decide. */
  heldBatchOf(entries: readonly SpendEntry[]): Awaitable<readonly Transaction[]> {
    return batchOf(transactionsOf(this.#openSet(), 'hold', entries));
  }

  /** Decides for somebody who asks again when denied: only what passes is reported. */
  reserve(batch: readonly Transaction[]): Awaitable<Decided> {
    const { decider, reports } = this.#parts;
    return andThen(decider.decide('spend', batch), (decision) =>
      decision.allowed && reports.isNeeded ? reports.report(decision, WITHOUT_HTTP) : decision,
    );
  }

  async charge(entries: readonly CostEntry[]): Promise<readonly BucketState[]> {
    return this.#parts.corrections.charge(entries);
  }

  async restrict(entries: readonly RestrictEntry[]): Promise<readonly BucketState[]> {
    return this.#parts.corrections.restrict(entries);
  }

  async refund(what: Decision | readonly CostEntry[]): Promise<readonly BucketState[]> {
    return this.#parts.corrections.refund(what as Decided | readonly CostEntry[]);
  }

  async settle(decision: Decision, costs: TrueCosts): Promise<readonly Settlement[]> {
    this.#parts.gate.assertOpen();
    return this.#parts.settlements.settle(decision as Decided, costs);
  }

  run<T>(entries: readonly SpendEntry[] | FirstOf, work: Work<T>, options?: RunOptions<T>): Promise<Ran<T>> {
    return run(this, entries, work, options);
  }

  async usage(entries: readonly BucketName[]): Promise<readonly Usage[]> {
    return usageOf(this.#openSet(), entries, (batch) => this.#parts.gate.read(batch));
  }

  describe(name: string): LimitDescription {
    return describedLimit(this.store, limitNamed(this.#openSet(), name));
  }

  async reset(entries: readonly BucketName[]): Promise<void> {
    const set = this.#openSet();
    return andThen(bucketsToReset(set, entries), (buckets) => {
      this.#parts.kinds.reset(buckets);
      const stored = buckets.filter(({ limit }) => isStored(set, limit));
      return andThen(this.#parts.gate.run({ kind: 'reset', batch: stored }), () => {
        this.#parts.reports.corrected(
          'reset',
          entries.map(({ limit }) => ({ limit, cost: 0 })),
        );
      });
    });
  }

  async block(entries: readonly BlockEntry[]): Promise<readonly StoreBlock[]> {
    return this.#blocking.block(entries);
  }

  async unblock(entries: readonly BucketName[]): Promise<readonly StoreBlock[]> {
    return this.#blocking.unblock(entries);
  }

  async blocked(limit?: string): Promise<readonly StoreBlock[]> {
    return this.#blocking.blocked(limit);
  }

  replace(set: LimitSetOptions<Request>): void {
    // From now on other limiters may use the names.
    if (this.#isClosing) throw closed();
    this.#parts.limits.replace(set);
  }

  async ready(options?: ReadyOptions): Promise<void> {
    await this.#parts.gate.ready(options);
    await this.#parts.blocking.ready();
    await this.#parts.limits.others?.look();
  }

  status(): StoreStatus {
    return this.#parts.gate.status();
  }

  async close(options: { readonly store?: boolean | undefined } = {}): Promise<void> {
    checkOptions('close', options, ['store']);
    checkBoolean('close.store', options.store);
    this.#isClosing = true;
    this.#parts.limits.release();
    this.#endStoreReports?.();
    this.#parts.queued.close();
    this.#parts.deadlines.close();
    this.#parts.kinds.close();
    try {
      await andThen(this.#parts.work.ended(), () => {
        this.#parts.limits.endOverrides();
        this.#parts.gate.close();
        const closesStore = (this.#ownsStore || options.store === true) && !isStoreInUse(this.store);
        return closesStore ? this.store.close() : undefined;
      });
    } finally {
      this.#parts.reports.closed();
    }
  }

  /** The names of all limits, in the order of their definition. */
  get limitNames(): readonly string[] {
    return [...this.limits.keys()];
  }

  /** The limits in effect by name, for packages that list or compare them. */
  get limits(): ReadonlyMap<string, Limit<Request>> {
    return this.#parts.limits.set.limits;
  }

  assertLimit(name: string): void {
    limitNamed(this.#openSet(), name);
  }

  assertFits(fixed: FixedCost): void {
    checkFixedCost(this.#openSet(), fixed);
  }

  assertCharged(name: string): void {
    checkCall(limitNamed(this.#openSet(), name), 'charge', 'check-and-spend');
  }

  prepare(uses: readonly UseInput<Request>[], call: 'spend' | 'check' = 'spend'): PreparedLimits<Request> {
    this.#parts.limits.need(uses);
    return new PreparedLimits(uses, { limits: this.#parts.limits, decider: this.#parts.decider, call });
  }

  noteRequest(decided: DecidedRequest<Request>, decision: Decision, shadow: boolean): void {
    if (this.#watch.isWatching) this.#watch.look(this.#parts.limits.set, decided, decision as Decided);
    if (this.#parts.reports.isNeeded)
      this.#parts.reports.report(decision as Decided, { request: decided.request, shadow });
  }

  chargeResults(results: readonly Result[], charge: LateCharge): Awaitable<readonly BucketState[]> {
    return this.#parts.corrections.chargeResults(results, charge);
  }

  settleResult(decision: Decision, result: Result, charge: LateCharge): Promise<void> {
    return this.#parts.corrections.settleResult(decision as Decided, result, charge);
  }

  delay(decision: Decision, end: (how: WaitEnd) => void): Leave {
    return this.#parts.queued.add(decision as Decided, end);
  }

  trackWork<T>(work: Awaitable<T>): Awaitable<T> {
    return this.#parts.work.track(work);
  }

  /** Lets an observer see all that follows. */
  observe(observer: Observer): void {
    this.#parts.reports.observe(observer);
  }

  /** What metrics read: waiting decisions, the slots that this process holds, and denials because of deadlines. */
  get inProgress(): Pick<LimiterParts<Request>, 'queued' | 'kinds' | 'deadlines'> {
    const { queued, kinds, deadlines } = this.#parts;
    return { queued, kinds, deadlines };
  }

  /** @throws {SluiceError} `ERR_CLOSED` after `close`. */
  get #blocking(): Blocking {
    this.#parts.gate.assertOpen();
    return this.#parts.blocking;
  }

  get #answersAtOnce(): boolean {
    return this.store.traits?.answersAtOnce === true;
  }

  #alternatives(input: FirstOf): Awaitable<readonly (readonly Transaction[])[]> {
    const set = this.#openSet();
    return alternativesOf(input, (entry) => transactionOfEntry(set, 'firstOf', entry));
  }

  /** @throws {SluiceError} `ERR_CLOSED` after `close`. */
  #openSet(): LimitSet<Request> {
    this.#parts.gate.assertOpen();
    return this.#parts.limits.set;
  }

  /** Returns the function that ends the reports of the store. When it throws, the names of the limits are free again. */
  #watchedStore(): (() => void) | undefined {
    try {
      return watchedStore(this.store, (report) => this.#noteStoreReport(report));
    } catch (error) {
      this.#parts.limits.release();
      throw error;
    }
  }

  #noteStoreReport(report: StoreReport): void {
    if (this.#isClosing) return;
    if (report.type === 'pressure') this.emit(pressureEvent(report));
    else this.#parts.gate.noteReport(report);
  }
}

function spendCallOf({ hold }: SpendSyncOptions): EntryCall {
  return hold === true ? 'hold' : 'spend';
}

/** Whether the buckets of a limit are in the store, and not only in this process. */
function isStored({ limits }: LimitSet<never>, name: string): boolean {
  return limits.get(name)?.isStored !== false;
}

markAsMadeHere(LimiterCore.prototype);

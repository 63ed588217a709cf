// The room leases: the store with leases; `leases/rules` decides, without I/O and timers.
import { SluiceError, type Awaitable, type ReadyOptions } from '@sluice/core';
import { checkDeadline, isInstance } from '@sluice/core/kit';
import {
  TICKS_PER_MS,
  joinedReading,
  otherNumbers,
  storeGuard,
  type LeaseDescription,
  type OvershootNumbers,
  type StoreBlocks,
  type StoreBucket,
  type StoreCharge,
  type StoreOperation,
  type StoreReading,
  type StoreReport,
  type StoreSync,
  type StoreTransaction,
  type DecidingOperation,
} from '@sluice/core/store';
import type { BucketKeys } from '../batches/bucket-keys.ts';
import { closedError, DEFAULT_DEADLINE_MS, type RedisStore, type SharedStore } from '../batches/shared-store.ts';
import { canDeny, conclude, decide, isExact, refundAll, type LeaseDecision } from './rules/decide.ts';
import { LeasedBuckets } from './rules/leased-buckets.ts';
import { BucketLookup } from './bucket-lookup.ts';
import type { GatewayCount } from './gateway-count.ts';
import type { LeaseLimits } from './lease-limits.ts';
import type { LeaseSyncs } from './lease-syncs.ts';
import { joinReadings, readingOf, splitBatch, type SplitBatch } from './leased-batch.ts';
import { LeaseReturns } from './lease-returns.ts';
import type { LeasedEntry } from './leased-levels.ts';
import { statusOf, type LeasedStoreStatus } from './lease-status.ts';

/**
 * A store in Redis that decides limits with an `overshoot` in the process, made by `leasedStore`. It decides everything else
 * as a {@link RedisStore}. Where the process decides, it returns values, otherwise promises. They reject with the errors of a
 * {@link RedisStore}.
 */
export interface LeasedStore extends Omit<RedisStore, 'traits' | 'run' | 'take' | 'status'> {
  readonly traits: {
    readonly keepsDeadline: true;
    readonly periods: true;
    readonly slots: true;
    readonly leases: true;
  };
  /**
   * Returns a value for a `spend` of leased buckets of which none waits for Redis, for a `check` if the process has a recent
   * view of all buckets, for a `charge` if all are leased, and for a `refund` of decisions of the process; otherwise a
   * promise.
   */
  run(operation: StoreOperation, deadlineMs?: number): Awaitable<StoreReading>;
  /** Describes how this store decides a limit with an `overshoot`. */
  describeLease(numbers: OvershootNumbers): LeaseDescription;
  /** Calls a listener with each sync that has ended. It must not throw. */
  watchSyncs(listener: (sync: StoreSync) => void): () => void;
  /** Returns the state of the connection and of the leases, and the counters. */
  status(): LeasedStoreStatus;
}

export interface ProcessStoreParts {
  /** Decides everything that is not leased, over the same connection. */
  readonly shared: SharedStore;
  readonly keys: BucketKeys;
  readonly limits: LeaseLimits;
  readonly buckets: LeasedBuckets;
  readonly syncs: LeaseSyncs;
  readonly gateways: GatewayCount;
  readonly maxWaitMs: number;
  readonly maxKeys: number;
  /** Whether a stream needs the tag of its buckets. */
  readonly isCluster: boolean;
}

/** The outcome of the leased part of a batch, and when. */
interface Decided {
  readonly split: SplitBatch;
  readonly decision: LeaseDecision;
  readonly nowTicks: number;
}

/** The store with leases: it decides in the process what it may, and asks Redis for the rest. */
export class ProcessStore implements LeasedStore {
  readonly name = 'redis';
  readonly traits = { keepsDeadline: true, periods: true, slots: true, leases: true } as const;
  readonly guard: object = storeGuard;
  readonly otherNumbers: typeof otherNumbers = otherNumbers;
  readonly blocks: StoreBlocks;
  readonly #parts: ProcessStoreParts;
  readonly #shared: SharedStore;
  readonly #syncs: LeaseSyncs;
  readonly #lookup: BucketLookup;
  readonly #returns: LeaseReturns;
  #closing: Promise<void> | undefined;

  constructor(parts: ProcessStoreParts) {
    this.#parts = parts;
    this.#shared = parts.shared;
    this.blocks = parts.shared.blocks;
    this.#syncs = parts.syncs;
    this.#lookup = new BucketLookup(parts);
    this.#returns = new LeaseReturns(parts);
  }

  run(operation: StoreOperation, deadlineMs: number = DEFAULT_DEADLINE_MS): Awaitable<StoreReading> {
    if (this.#closing !== undefined) throw closedError('leasedStore');
    checkDeadline(deadlineMs);
    switch (operation.kind) {
      case 'spend':
      case 'check':
        return operation.alternatives.length === 1
          ? this.#decide(operation.kind, operation.alternatives[0]!, deadlineMs)
          : this.#decideFirst(operation, deadlineMs);
      case 'charge':
        return this.#charge(operation.batch, deadlineMs);
      case 'refund':
        return this.#returns.refund(operation.batch, deadlineMs);
      default:
        return this.#change(operation, deadlineMs);
    }
  }

  holders(buckets: readonly StoreBucket[], deadlineMs?: number): Promise<readonly (readonly string[])[]> {
    return this.#shared.holders(buckets, deadlineMs);
  }

  #decide(kind: 'spend' | 'check', batch: readonly StoreTransaction[], deadlineMs: number): Awaitable<StoreReading> {
    return kind === 'spend' ? this.#spend(batch, deadlineMs) : this.#check(batch, deadlineMs);
  }

  #spend(batch: readonly StoreTransaction[], deadlineMs: number): Awaitable<StoreReading> {
    const { nowTicks } = this.#syncs;
    const split = splitBatch(batch, this.#lookup, nowTicks);
    if (split === undefined) return this.#askRedis('spend', batch, deadlineMs);
    const decision = decide(split.leased, nowTicks);
    if (decision.outcome === 'exact') return this.#spendPartly(batch, nowTicks, deadlineMs);
    return this.#spendSplit(batch, { split, decision, nowTicks }, deadlineMs);
  }

  async #decideFirst(operation: DecidingOperation, deadlineMs: number): Promise<StoreReading> {
    const { kind, alternatives } = operation;
    const hasLeased = alternatives.some((batch) =>
      batch.some((each) => this.#parts.limits.termsOf(each) !== undefined),
    );
    if (!hasLeased) return this.#shared.run(operation, deadlineMs);
    const startTicks = this.#syncs.nowTicks;
    const readings: StoreReading[] = [];
    for (const batch of alternatives) {
      const leftMs = this.#leftMs(deadlineMs, startTicks);
      // oxlint-disable-next-line no-await-in-loop -- the next one is tried only if this one is denied
      const reading = batch.length === 0 ? this.#emptyReading() : await this.#decide(kind, batch, leftMs);
      readings.push(reading);
      if (reading.passed === 0) break;
    }
    return joinedReading(readings);
  }

  #check(batch: readonly StoreTransaction[], deadlineMs: number): Awaitable<StoreReading> {
    const { nowTicks } = this.#syncs;
    const isUsable = (entry: LeasedEntry): boolean => !entry.bucket.isOld(nowTicks) && !isExact(entry, nowTicks);
    const split = splitBatch(batch, this.#lookup, nowTicks, isUsable);
    if (split === undefined) return this.#askRedis('check', batch, deadlineMs);
    const looks = looksOf(split);
    const decision = decide(looks, nowTicks);
    if (decision.outcome === 'unavailable') return this.#askRedis('check', batch, deadlineMs);
    // A `spend` would wait for a sync. Until then, the view is all that is known.
    if (decision.outcome === 'waits') {
      for (const each of looks) conclude(each, each.bucket.waitByView(each.tokens, nowTicks), nowTicks);
    }
    this.#syncs.afterUse(looks, nowTicks);
    const reading = readingOf(looks, wouldPass(split, looks), nowTicks);
    if (split.exact.length === 0) return reading;
    return this.#askRedis('check', split.exact, deadlineMs).then((exact) => joinReadings(split, reading, exact));
  }

  #charge(batch: readonly StoreCharge[], deadlineMs: number): Awaitable<StoreReading> {
    const transactions = batch.map((each): StoreTransaction => ({ ...each, fitTicks: each.capTicks, mode: 'charge' }));
    const split = splitBatch(transactions, this.#lookup, this.#syncs.nowTicks);
    if (split === undefined) return this.#shared.run({ kind: 'charge', batch }, deadlineMs);
    if (split.exact.length === 0) return this.#chargeLeased(split);
    pin(split.leased, 1);
    return this.#shared.run({ kind: 'charge', batch: split.exact }, deadlineMs).then(
      (exact) => {
        pin(split.leased, -1);
        return joinReadings(split, this.#chargeLeased(split), exact);
      },
      (error: unknown) => {
        pin(split.leased, -1);
        throw error;
      },
    );
  }

  /** Changes buckets in Redis, and what this process knows of them. */
  async #change(
    operation: Extract<StoreOperation, { readonly kind: 'cap' | 'renew' | 'release' | 'reset' }>,
    deadlineMs: number,
  ): Promise<StoreReading> {
    const sentTicks = this.#syncs.nowTicks;
    const reading = await this.#shared.run(operation, deadlineMs);
    if (operation.kind === 'cap') this.#returns.lowered(operation.batch);
    if (operation.kind === 'reset') this.#returns.reset(operation.batch, sentTicks);
    return reading;
  }

  async #askRedis(
    kind: 'spend' | 'check',
    batch: readonly StoreTransaction[],
    deadlineMs: number,
  ): Promise<StoreReading> {
    const askedTicks = this.#syncs.nowTicks;
    try {
      return await this.#shared.run({ kind, alternatives: [batch] }, deadlineMs);
    } catch (error) {
      const reading =
        isInstance(error, SluiceError) && error.kind === 'store' && this.#decideAlone(kind, batch, askedTicks);
      if (!reading) throw error;
      return reading;
    }
  }

  /**
   * Decides a batch that Redis has not answered by what the process knows of its buckets, as when a wait for a sync ends in
   * vain. By their policy `local`, the limiter would decide it by buckets that begin full.
   *
   * @param askedTicks - When Redis was asked.
   * @returns Undefined if a limit of the batch is not leased, or has another policy.
   */
  #decideAlone(
    kind: 'spend' | 'check',
    batch: readonly StoreTransaction[],
    askedTicks: number,
  ): StoreReading | undefined {
    if (batch.some(({ treatment }) => treatment?.onFailure !== 'local')) return undefined;
    const { nowTicks } = this.#syncs;
    const split = splitBatch(batch, this.#lookup, nowTicks);
    if (split === undefined || split.exact.length > 0) return undefined;
    for (const { bucket } of split.leased) bucket.beginOutage(askedTicks, nowTicks);
    const entries = kind === 'spend' ? split.leased : looksOf(split);
    const { outcome } = decide(entries, nowTicks);
    this.#syncs.afterUse(entries, nowTicks);
    return readingOf(entries, kind === 'spend' ? outcome === 'passed' : wouldPass(split, entries), nowTicks);
  }

  describeLease(numbers: OvershootNumbers): LeaseDescription {
    return this.#parts.limits.describe(numbers);
  }

  ready(options?: ReadyOptions): Promise<void> {
    return this.#shared.ready(options);
  }

  watch(listener: (report: StoreReport) => void): () => void {
    return this.#shared.watch(listener);
  }

  watchSyncs(listener: (sync: StoreSync) => void): () => void {
    this.#syncs.listeners.add(listener);
    return () => void this.#syncs.listeners.delete(listener);
  }

  status(): LeasedStoreStatus {
    return statusOf(this.#parts);
  }

  close(): Promise<void> {
    this.#closing ??= this.#syncs.close().then(() => this.#shared.close());
    return this.#closing;
  }

  /** Spends a batch of which Redis has to decide some buckets that are leased. */
  #spendPartly(batch: readonly StoreTransaction[], nowTicks: number, deadlineMs: number): Awaitable<StoreReading> {
    const split = splitBatch(batch, this.#lookup, nowTicks, (entry) => {
      if (!isExact(entry, nowTicks)) return true;
      this.#noteExact(entry, nowTicks);
      return false;
    });
    if (split === undefined) return this.#spendInRedis(batch, deadlineMs);
    return this.#spendSplit(batch, { split, decision: decide(split.leased, nowTicks), nowTicks }, deadlineMs);
  }

  /** Has a bucket read again whose level Redis changes, and reports a network that is too slow for its leases. */
  #noteExact({ bucket, transaction }: LeasedEntry, nowTicks: number): void {
    bucket.touch(nowTicks);
    this.#syncs.afterUse([{ bucket }], nowTicks);
    if (!bucket.isTooSlow) return;
    const [roundTripMs, leaseMs] = [bucket.stream.roundTripTicks, bucket.terms.leaseTicks].map(wholeMs);
    const reason = `a sync takes ${roundTripMs} ms, and its leases last only ${leaseMs} ms from when they are asked for`;
    this.#parts.limits.reportStrict(transaction.limit, reason);
  }

  #spendSplit(
    batch: readonly StoreTransaction[],
    { split, decision, nowTicks }: Decided,
    deadlineMs: number,
  ): Awaitable<StoreReading> {
    if (decision.outcome === 'waits') return this.#waitAndSpend(batch, split, nowTicks, deadlineMs);
    this.#syncs.afterUse(split.leased, nowTicks);
    return this.#spendRest({ split, decision, nowTicks }, deadlineMs);
  }

  #waitAndSpend(
    batch: readonly StoreTransaction[],
    split: SplitBatch,
    nowTicks: number,
    deadlineMs: number,
  ): Promise<StoreReading> {
    const maxWaitTicks = Math.floor(Math.min(this.#parts.maxWaitMs, deadlineMs) * TICKS_PER_MS);
    const spend = async (decision: LeaseDecision, decidedTicks: number): Promise<StoreReading> => {
      const leftMs = this.#leftMs(deadlineMs, nowTicks);
      if (decision.outcome === 'exact') return this.run({ kind: 'spend', alternatives: [batch] }, leftMs);
      return this.#spendRest({ split, decision, nowTicks: decidedTicks }, leftMs);
    };
    return new Promise((resolve) => {
      this.#syncs.wait({ batch: split.leased, nowTicks, maxWaitTicks }, (decision, decidedTicks) =>
        resolve(spend(decision, decidedTicks)),
      );
    });
  }

  /** Spends what only Redis decides, after the leased part was decided. */
  #spendRest({ split, decision, nowTicks }: Decided, deadlineMs: number): Awaitable<StoreReading> {
    if (decision.outcome === 'unavailable') return Promise.reject(this.#unanswered(split));
    const { leased, exact } = split;
    const reading = readingOf(leased, decision.outcome === 'passed', nowTicks);
    return exact.length === 0 ? reading : this.#spendExact(split, reading, deadlineMs);
  }

  /** Spends what only Redis decides, or checks it if the leased part was denied. */
  #spendExact(split: SplitBatch, reading: StoreReading, deadlineMs: number): Promise<StoreReading> {
    const { leased, exact } = split;
    if (reading.passed !== 0) {
      return this.#askRedis('check', exact, deadlineMs).then((levels) => joinReadings(split, reading, levels));
    }
    pin(leased, 1);
    return this.#spendInRedis(exact, deadlineMs).then(
      (levels) => {
        pin(leased, -1);
        if (levels.passed !== 0) this.#takeBack(leased);
        return joinReadings(split, reading, levels);
      },
      (error: unknown) => {
        pin(leased, -1);
        this.#takeBack(leased);
        throw error;
      },
    );
  }

  /** Spends transactions of which some have buckets that are leased. */
  async #spendInRedis(batch: readonly StoreTransaction[], deadlineMs: number): Promise<StoreReading> {
    const unreported = batch.map((each) => this.#parts.buckets.find(each)?.unreportedTicks ?? 0);
    const reading = await this.#askRedis('spend', batch, deadlineMs);
    if (reading.passed === 0) return reading;
    const levelsTicks = reading.levelsTicks.map((level, i) => {
      const { incrementTicks, fitTicks } = batch[i]!;
      return level + incrementTicks <= fitTicks ? level : level + unreported[i]!;
    });
    return { ...reading, levelsTicks };
  }

  /**
   * The error of buckets whose syncs are not answered. Only without a cluster it shows that Redis can't be reached. Other
   * nodes may answer, and a single late answer is no outage.
   */
  #unanswered({ leased }: SplitBatch): SluiceError {
    const isOutage = !this.#parts.isCluster && leased.some(({ bucket }) => bucket.stream.isOpen);
    return new SluiceError(
      isOutage ? 'ERR_STORE_UNAVAILABLE' : 'ERR_STORE_BUCKET',
      'Redis does not answer the syncs of leases, and the leases of this process are spent.',
    );
  }

  #takeBack(leased: readonly LeasedEntry[]): void {
    const { nowTicks } = this.#syncs;
    refundAll(leased, nowTicks);
    this.#syncs.afterUse(leased, nowTicks);
  }

  #chargeLeased({ leased }: SplitBatch): StoreReading {
    const { nowTicks } = this.#syncs;
    for (const { bucket, tokens } of leased) bucket.charge(tokens, nowTicks);
    this.#syncs.afterUse(leased, nowTicks);
    return this.#returns.readingOf(leased, nowTicks);
  }

  #emptyReading(): StoreReading {
    return { passed: 0, nowTicks: this.#syncs.nowTicks, levelsTicks: [], remembered: true };
  }

  #leftMs(deadlineMs: number, startTicks: number): number {
    return Math.max(1, deadlineMs - (this.#syncs.nowTicks - startTicks) / TICKS_PER_MS);
  }
}

/** The leased part of a batch, to be looked at only. */
function looksOf({ leased }: SplitBatch): readonly LeasedEntry[] {
  return leased.map((entry) => ({ ...entry, mode: 'check-only' }));
}

/** Whether a batch would pass, by looks that were decided: what does not fit denies only in a mode that can. */
function wouldPass({ leased }: SplitBatch, looks: readonly LeasedEntry[]): boolean {
  return looks.every(({ waitTicks }, i) => waitTicks === 0 || !canDeny(leased[i]!.mode));
}

/** Keeps buckets from being forgotten until Redis has decided the rest of their batch. @param count - 1, and −1 at the end. */
function pin(leased: readonly LeasedEntry[], count: 1 | -1): void {
  for (const { bucket } of leased) bucket.usedByWaiting += count;
}

function wholeMs(ticks: number): number {
  return Math.round(ticks / TICKS_PER_MS);
}

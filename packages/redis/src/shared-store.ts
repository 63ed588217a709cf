import {
  SluiceError,
  type BucketName,
  type StoreCharge,
  type StoreReading,
  type StoreRefund,
  type StoreTransaction,
} from '@sluice/core';
import { monotonicClock, type Notify } from '@sluice/core/store';
import type { AskEntry, AskKind } from './ask.ts';
import { StandaloneAsker, type Asker } from './asker.ts';
import { BucketKeys, type BucketKeysOptions } from './bucket-keys.ts';
import { ClusterAsker } from './cluster-asker.ts';
import { refundLost, type RedisStoreEvent } from './events.ts';
import { KnownLevels, notingDenials, notingRefunds } from './known-levels.ts';
import type { Line } from './line/line.ts';
import type { RedisStore, RedisStoreStatus } from './redis-store.ts';

/** For callers other than limiters, which always say how long they wait. */
const DEFAULT_DEADLINE_MS = 1000;

/** What a {@link SharedStore} is made of, checked. */
export interface SharedStoreParts extends BucketKeysOptions {
  readonly line: Line;
  readonly rememberDenialsMs: number;
  readonly notify: Notify<RedisStoreEvent>;
}

/** The store on any line to Redis. */
export class SharedStore implements RedisStore {
  readonly #line: Line;
  readonly #keys: BucketKeys;
  readonly #known: KnownLevels;
  readonly #asker: Asker;
  readonly #notify: Notify<RedisStoreEvent>;
  readonly #counts = { batches: 0, rememberedDenials: 0, lostRefunds: 0 };
  #closed: Promise<void> | undefined;

  constructor({ line, rememberDenialsMs, notify, ...keys }: SharedStoreParts) {
    this.#line = line;
    this.#notify = notify;
    this.#keys = new BucketKeys(keys);
    const known = (this.#known = new KnownLevels(rememberDenialsMs, monotonicClock));
    this.#asker = line.isCluster
      ? new ClusterAsker(line, {
          asks: notingDenials(known),
          givenBack: notingRefunds(known),
          lost: (count, cause) => this.#lost(count, cause),
        })
      : new StandaloneAsker(line, notingDenials(known));
  }

  spend(batch: readonly StoreTransaction[], deadlineMs?: number): Promise<StoreReading> {
    return this.#ask('spend', batch, deadlineMs);
  }

  check(batch: readonly StoreTransaction[], deadlineMs?: number): Promise<StoreReading> {
    return this.#ask('check', batch, deadlineMs);
  }

  charge(batch: readonly StoreCharge[], deadlineMs?: number): Promise<StoreReading> {
    return this.#ask('charge', batch, deadlineMs);
  }

  refund(batch: readonly StoreRefund[], deadlineMs?: number): Promise<StoreReading> {
    return this.#ask('refund', batch, deadlineMs);
  }

  async reset(batch: readonly BucketName[], deadlineMs?: number): Promise<void> {
    await this.#ask('reset', batch, deadlineMs);
  }

  close(): Promise<void> {
    this.#closed ??= this.#asker.drain().then(() => this.#line.close());
    return this.#closed;
  }

  status(): RedisStoreStatus {
    const status = this.#line.status();
    return { ...status, counts: { ...status.counts, ...this.#counts } };
  }

  #ask(
    kind: AskKind,
    batch: readonly (AskEntry & BucketName)[],
    deadlineMs: number = DEFAULT_DEADLINE_MS,
  ): Promise<StoreReading> {
    if (this.#closed !== undefined) return Promise.reject(closed());
    this.#counts.batches++;
    if (batch.length === 0) return this.#askTime(deadlineMs);
    try {
      const keys = batch.map((bucket) => this.#keys.keyOf(bucket));
      return this.#refusal(kind, batch, keys) ?? this.#asker.ask({ kind, batch, keys, deadlineMs });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #refusal(kind: AskKind, batch: readonly AskEntry[], keys: readonly string[]): Promise<StoreReading> | undefined {
    if (kind !== 'spend') return undefined;
    const refusal = this.#known.refusalOf(batch as readonly StoreTransaction[], keys);
    if (refusal === undefined) return undefined;
    this.#counts.rememberedDenials++;
    return Promise.resolve(refusal);
  }

  /** The reading of an empty batch: what is looked at is a bucket that nobody has. */
  async #askTime(deadlineMs: number): Promise<StoreReading> {
    const keys = [this.#keys.keyOf({ limit: '', id: '' })];
    const { nowTicks } = await this.#asker.ask({ kind: 'check', batch: [{}], keys, deadlineMs });
    return { nowTicks, levelsTicks: [] };
  }

  #lost(count: number, cause: unknown): void {
    this.#counts.lostRefunds += count;
    this.#notify(refundLost(count, cause));
  }
}

function closed(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'This Redis store was closed. Make a new one with redisStore().');
}

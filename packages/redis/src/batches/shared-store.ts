import {
  SluiceError,
  type BucketName,
  type ReadyOptions,
  type Store,
  type StoreCap,
  type StoreCharge,
  type StoreReading,
  type StoreRefund,
  type StoreTransaction,
} from '@sluice/core';
import { checkReadyOptions, complaint, monotonicClock, type EventSink } from '@sluice/core/kit';
import type { AskEntry, AskKind, AskParts } from './batch-request.ts';
import { StandaloneAsker, type Asker } from './dispatcher.ts';
import { BucketKeys, type BucketKeysOptions } from './bucket-keys.ts';
import { MOST_TRANSACTIONS } from './coalescer.ts';
import { ClusterAsker } from './cluster-dispatcher.ts';
import { refundLost, type RedisStoreEvent } from './events.ts';
import { KnownLevels, notingDenials, notingRefunds } from './denial-cache.ts';
import type { Line } from '../client/script-client.ts';
import type { LineCounts, LineStatus } from '../client/connection-status.ts';
import { piecesOf } from './spread-batch.ts';

/** What a Redis store has done since it was created. */
export interface RedisStoreCounts extends LineCounts {
  /** Calls of `spend`, `check`, `charge`, `refund`, `cap` and `reset`. */
  readonly batches: number;
  /** Calls among them that were denied from memory, without a call of Redis. */
  readonly rememberedDenials: number;
  /** Buckets to which a batch over several slots could not refund the tokens that it had taken. */
  readonly lostRefunds: number;
}

/** The state of a Redis store: its connection and its counters. */
export interface RedisStoreStatus extends LineStatus {
  readonly counts: RedisStoreCounts;
}

/**
 * A store in Redis, made by `redisStore`. The limiter calls the methods for buckets.
 *
 * `deadlineMs` is how long the caller waits, in milliseconds: a number above 0, at most 60,000. Default: 1000. Redis
 * does not execute a batch whose deadline has passed. The methods for buckets reject with a `SluiceError`:
 *
 * - `ERR_STORE_DEADLINE` if there was no answer in time;
 * - `ERR_STORE_UNAVAILABLE` if the server can't be reached or has failed;
 * - `ERR_STORE_BUCKET` if the key of a bucket contains something else, or only this call failed;
 * - `ERR_STORE_ANSWER` if the reply is malformed;
 * - `ERR_OPTION` or `ERR_ID` if a deadline, hash tag or id is wrong;
 * - `ERR_CLOSED` after `close()`.
 */
export interface RedisStore extends Store {
  spend(batch: readonly StoreTransaction[], deadlineMs?: number): Promise<StoreReading>;
  check(batch: readonly StoreTransaction[], deadlineMs?: number): Promise<StoreReading>;
  charge(batch: readonly StoreCharge[], deadlineMs?: number): Promise<StoreReading>;
  refund(batch: readonly StoreRefund[], deadlineMs?: number): Promise<StoreReading>;
  cap(batch: readonly StoreCap[], deadlineMs?: number): Promise<StoreReading>;
  reset(batch: readonly BucketName[], deadlineMs?: number): Promise<void>;
  /**
   * Resolves when scripts can be run on Redis, or on every primary of a cluster; immediately if that is already so. It
   * waits for the existing connection and does not open another.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE` and the cause if Redis is not ready within `timeoutMs`
   * (default: 10,000); the store continues to connect until you close it. Rejects with `ERR_CLOSED` if the store is
   * closed, and with `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options.
   */
  ready(options?: ReadyOptions): Promise<void>;
  /**
   * Sends what is still queued, and closes the store's own connections and timers. Your client stays open. A second
   * call has no effect.
   */
  close(): Promise<void>;
  /** Returns the state of the connection and the counters. */
  status(): RedisStoreStatus;
}

/** The deadline of calls without one. Limiters always pass theirs. */
const DEFAULT_DEADLINE_MS = 1000;

/** The maximum deadline, which is also that of a limiter. */
const MAX_DEADLINE_MS = 60_000;

export interface SharedStoreParts extends BucketKeysOptions {
  readonly line: Line;
  readonly rememberDenialsMs: number;
  readonly emit: EventSink<RedisStoreEvent>;
}

/** The Redis store, over a connection to one server or to a cluster. */
export class SharedStore implements RedisStore {
  readonly #line: Line;
  readonly #keys: BucketKeys;
  readonly #known: KnownLevels;
  readonly #asker: Asker;
  readonly #emit: EventSink<RedisStoreEvent>;
  readonly #counts = { batches: 0, rememberedDenials: 0, lostRefunds: 0 };
  #closed: Promise<void> | undefined;

  constructor({ line, rememberDenialsMs, emit, ...keys }: SharedStoreParts) {
    this.#line = line;
    this.#emit = emit;
    this.#keys = new BucketKeys(keys);
    const known = (this.#known = new KnownLevels(rememberDenialsMs, monotonicClock));
    this.#asker = line.isCluster
      ? new ClusterAsker(line, monotonicClock, {
          asks: notingDenials(known),
          givenBack: notingRefunds(known),
          lost: (count, cause) => this.#lost(count, cause),
        })
      : new StandaloneAsker(line, monotonicClock, notingDenials(known));
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

  cap(batch: readonly StoreCap[], deadlineMs?: number): Promise<StoreReading> {
    return this.#ask('cap', batch, deadlineMs);
  }

  async reset(batch: readonly BucketName[], deadlineMs?: number): Promise<void> {
    await this.#ask('reset', batch, deadlineMs);
  }

  async ready(options?: ReadyOptions): Promise<void> {
    const { timeoutMs } = checkReadyOptions(options);
    if (this.#closed !== undefined) throw closed();
    await this.#line.ready(timeoutMs);
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
    try {
      checkDeadline(deadlineMs);
      if (batch.length === 0) return this.#askTime(deadlineMs);
      const keys = batch.map((bucket) => this.#keys.keyOf(bucket));
      return this.#denial(kind, batch, keys) ?? this.#send({ kind, batch, keys, deadlineMs });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #denial(kind: AskKind, batch: readonly AskEntry[], keys: readonly string[]): Promise<StoreReading> | undefined {
    if (kind !== 'spend') return undefined;
    const denial = this.#known.denialOf(batch as readonly StoreTransaction[], keys);
    if (denial === undefined) return undefined;
    this.#counts.rememberedDenials++;
    return Promise.resolve(denial);
  }

  // A reset need not be atomic. It is split, because a reset of many buckets in one call would block the server.
  #send(parts: AskParts): Promise<StoreReading> {
    if (parts.kind !== 'reset') return this.#asker.ask(parts);
    const asked = piecesOf(parts, MOST_TRANSACTIONS).map((piece) => this.#asker.ask(piece));
    return Promise.all(asked).then(([reading]) => reading!);
  }

  /** Reads the server's clock, which is all that the reading of an empty batch contains. */
  async #askTime(deadlineMs: number): Promise<StoreReading> {
    const keys = [this.#keys.ofNone];
    const { nowTicks } = await this.#asker.ask({ kind: 'check', batch: [{}], keys, deadlineMs });
    return { nowTicks, levelsTicks: [] };
  }

  #lost(count: number, cause: unknown): void {
    this.#counts.lostRefunds += count;
    this.#emit(refundLost(count, cause));
  }
}

function checkDeadline(deadlineMs: unknown): void {
  if (typeof deadlineMs === 'number' && deadlineMs > 0 && deadlineMs <= MAX_DEADLINE_MS) return;
  const demand = `a number of milliseconds above 0, at most ${MAX_DEADLINE_MS}`;
  throw complaint('ERR_OPTION', {
    option: 'deadlineMs',
    demand,
    value: deadlineMs,
    remedy: 'For example deadlineMs: 50.',
  });
}

function closed(): SluiceError {
  return new SluiceError('ERR_CLOSED', 'This Redis store was closed. Make a new one with redisStore().');
}

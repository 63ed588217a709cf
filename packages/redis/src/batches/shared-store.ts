// The room batches: the store: keys, the script's calls, several batches in one call, remembered denials.
import { SluiceError, type ReadyOptions, type Store, type Time } from '@sluice/core';
import {
  checkDeadline,
  checkReadyOptions,
  RUN_INTO,
  type AnswerSink,
  type EventSink,
  type RunInto,
  type ServerEntry,
} from '@sluice/core/kit';
import {
  otherNumbers,
  storeBlocks,
  storeGuard,
  type StoreBlocks,
  type StoreBucket,
  type StoreOperation,
  type StoreReading,
  type StoreReport,
  type DecidingOperation,
} from '@sluice/core/store';
import type { ConnectionCounts, ConnectionStatus } from '../client/connection-status.ts';
import type { ScriptClient } from '../client/script-client.ts';
import { joinAlternatives } from './alternatives.ts';
import { readingOf, type BatchKind, type BatchRequestParts } from './batch-request.ts';
import { blocksText } from './blocks-text.ts';
import { BucketKeys, type BucketKeysOptions } from './bucket-keys.ts';
import { MAX_TRANSACTIONS } from './coalescer.ts';
import { DenialCache, cacheDenials, cacheRefunds } from './denial-cache.ts';
import { ClusterDispatcher, SingleDispatcher, type Dispatcher } from './dispatcher.ts';
import { refundLost, type RedisStoreEvent } from './events.ts';
import { holdersOf } from './holders.ts';
import { splitBySize } from './split-batch.ts';

/** What a Redis store has done since it was created. */
export interface RedisStoreCounts extends ConnectionCounts {
  /** Operations. */
  readonly batches: number;
  /** Operations among them that were denied from memory, without calling Redis. */
  readonly rememberedDenials: number;
  /** Buckets to which a batch over several hash slots could not give back what it had taken. */
  readonly lostRefunds: number;
}

/** The state of a Redis store: its connection and its counters. */
export interface RedisStoreStatus extends ConnectionStatus {
  readonly counts: RedisStoreCounts;
}

/**
 * A store in Redis, made by `redisStore`. The limiter calls `run`.
 *
 * `deadlineMs` is how long the caller waits, in milliseconds: a number above 0, at most 60,000. Default: 1000. Redis
 * does not execute an operation whose deadline has passed. `run` rejects with a `SluiceError`:
 *
 * - `ERR_STORE_DEADLINE` if there was no answer in time;
 * - `ERR_STORE_UNAVAILABLE` if the server can't be reached or has failed;
 * - `ERR_STORE_BUCKET` if the key of a bucket contains something else, or only this call failed;
 * - `ERR_STORE_PERIOD` if the server's clock is outside of the calendar periods of a bucket;
 * - `ERR_STORE_ANSWER` if the reply is malformed;
 * - `ERR_OPTION` or `ERR_ID` if a deadline, hash tag or id is wrong;
 * - `ERR_CLOSED` after `close()`.
 */
export interface RedisStore extends Store {
  /**
   * Every call settles within its deadline, so a limiter sets no timer of its own. Buckets may have calendar periods, or
   * slots.
   */
  readonly traits: { readonly keepsDeadline: true; readonly periods: true; readonly slots: true };
  /**
   * Executes an operation in one script call, and atomically. Operations of one turn of the event loop travel together.
   *
   * In a cluster, that is so when all buckets are in one hash slot; otherwise alternatives are tried one after another. More
   * than 32 buckets of a `renew`, a `release` or a `reset` are sent in several script calls, and those that succeed take
   * effect even if others fail.
   */
  run(operation: StoreOperation, deadlineMs?: number): Promise<StoreReading>;
  /** Reads the holders of slots, in calls of a script for up to 32 buckets each; in a cluster for one each. */
  holders(buckets: readonly StoreBucket[], deadlineMs?: number): Promise<readonly (readonly string[])[]>;
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
   * Registers a listener: for `down` when Redis, or every primary of a cluster, can't be reached any more, at once if
   * that is so already; for `up` when Redis or a primary can be reached again. A lost connection is `down` only when
   * the first attempt to make it again has failed. A server that hangs is `down` when its connection was cut for that.
   * A server that rejects writes, such as a replica, is not reported until it executes a call again.
   *
   * @returns A function that removes the listener.
   * @throws {SluiceError} `ERR_CLOSED` when the store is closed.
   */
  watch(listener: (report: StoreReport) => void): () => void;
  /**
   * Sends what is still queued, and closes the store's own connections and timers. Your client stays open. A second
   * call has no effect.
   */
  close(): Promise<void>;
  /** Returns the state of the connection and the counters. */
  status(): RedisStoreStatus;
}

/** The deadline of calls without one. Limiters always pass theirs. */
export const DEFAULT_DEADLINE_MS = 1000;

export interface SharedStoreParts extends BucketKeysOptions {
  readonly client: ScriptClient;
  readonly rememberDenialsMs: number;
  readonly emit: EventSink<RedisStoreEvent>;
  readonly time: Time;
  /** The function that creates the store, for messages. */
  readonly caller: 'redisStore' | 'leasedStore';
}

/** The Redis store, over a connection to one server or to a cluster. */
export class SharedStore implements RedisStore {
  readonly name = 'redis';
  readonly traits = { keepsDeadline: true, periods: true, slots: true } as const;
  readonly guard: object = storeGuard;
  readonly otherNumbers: typeof otherNumbers = otherNumbers;
  readonly blocks: StoreBlocks;
  readonly #client: ScriptClient;
  readonly #keys: BucketKeys;
  readonly #denials: DenialCache;
  readonly #dispatcher: Dispatcher;
  readonly #emit: EventSink<RedisStoreEvent>;
  readonly #counts = { batches: 0, rememberedDenials: 0, lostRefunds: 0 };
  readonly #caller: string;
  #closing: Promise<void> | undefined;

  constructor({ client, rememberDenialsMs, emit, time, caller, ...keys }: SharedStoreParts) {
    this.#client = client;
    this.#caller = caller;
    this.#emit = emit;
    this.#keys = new BucketKeys(keys);
    this.blocks = storeBlocks(
      blocksText(client, this.#keys.blocksKey, () => this.#assertOpen()),
      time,
    );
    const denials = (this.#denials = new DenialCache(rememberDenialsMs, time));
    this.#dispatcher = client.isCluster
      ? new ClusterDispatcher(client, time, {
          requests: cacheDenials(denials),
          refunds: cacheRefunds(denials),
          onLostRefund: (count, cause) => this.#noteLostRefund(count, cause),
        })
      : new SingleDispatcher(client, time, cacheDenials(denials));
  }

  run(operation: StoreOperation, deadlineMs: number = DEFAULT_DEADLINE_MS): Promise<StoreReading> {
    return readingOf((sink) => this.#runInto(operation, deadlineMs, sink));
  }

  static {
    (this.prototype.run as { [RUN_INTO]?: RunInto })[RUN_INTO] = (store, operation, deadlineMs, sink) => {
      (store as SharedStore).#runInto(operation, deadlineMs, sink);
    };
  }

  async holders(
    buckets: readonly StoreBucket[],
    deadlineMs: number = DEFAULT_DEADLINE_MS,
  ): Promise<readonly (readonly string[])[]> {
    this.#assertOpen();
    checkDeadline(deadlineMs);
    const keys = buckets.map((bucket) => this.#keys.keyOf(bucket));
    return holdersOf(this.#client, keys, deadlineMs);
  }

  async ready(options?: ReadyOptions): Promise<void> {
    const { timeoutMs } = checkReadyOptions(options);
    this.#assertOpen();
    await this.#client.ready(timeoutMs);
  }

  watch(listener: (report: StoreReport) => void): () => void {
    this.#assertOpen();
    return this.#client.watch(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#dispatcher.drain().then(() => this.#client.close());
    return this.#closing;
  }

  status(): RedisStoreStatus {
    const status = this.#client.status();
    return { ...status, counts: { ...status.counts, ...this.#counts } };
  }

  #runInto(operation: StoreOperation, deadlineMs: number, sink: AnswerSink): void {
    try {
      this.#beginCall(deadlineMs);
      if ('alternatives' in operation) this.#decide(operation, deadlineMs, sink);
      else this.#send(this.#partsOf(operation.kind, operation.batch, deadlineMs), sink);
    } catch (error) {
      sink.failed(error);
    }
  }

  #decide({ kind, alternatives }: DecidingOperation, deadlineMs: number, sink: AnswerSink): void {
    const parts = this.#partsOf(kind, alternatives[0]!, deadlineMs);
    // A batch without transactions passes, so those after it are not tried.
    if (alternatives.length > 1 && parts.keys.length > 0)
      return this.#decideFirst({ kind, alternatives }, deadlineMs, sink);
    const denial = kind === 'spend' ? this.#denials.findDenial(alternatives[0]!, parts.keys) : undefined;
    if (denial === undefined) this.#send(parts, sink);
    else this.#deny(denial, sink);
  }

  #decideFirst({ kind, alternatives }: DecidingOperation, deadlineMs: number, sink: AnswerSink): void {
    const all = alternatives.map((batch) => this.#partsOf(kind, batch, deadlineMs));
    const denial = kind === 'spend' ? this.#denials.findDenials(all) : undefined;
    if (denial === undefined) this.#send(joinAlternatives(all), sink);
    else this.#deny(denial, sink);
  }

  #deny(denial: StoreReading, sink: AnswerSink): void {
    this.#counts.rememberedDenials++;
    sink.answered(denial);
  }

  #beginCall(deadlineMs: number): void {
    this.#assertOpen();
    this.#counts.batches++;
    checkDeadline(deadlineMs);
  }

  #partsOf(kind: BatchKind, batch: readonly (ServerEntry & StoreBucket)[], deadlineMs: number): BatchRequestParts {
    const keys: string[] = [];
    for (let i = 0; i < batch.length; i++) keys.push(this.#keys.keyOf(batch[i]!));
    return { kind, batch, keys, deadlineMs };
  }

  // Some kinds need not be atomic. They are split, because a call for many buckets would block the server.
  #send(parts: BatchRequestParts, sink: AnswerSink): void {
    const { kind, keys, deadlineMs } = parts;
    if (keys.length === 0) return this.#readTime(deadlineMs, sink);
    const isAtomic = kind !== 'reset' && kind !== 'renew' && kind !== 'release';
    if (isAtomic || keys.length <= MAX_TRANSACTIONS) return this.#dispatcher.send(parts, sink);
    const pieces = splitBySize(parts, MAX_TRANSACTIONS);
    Promise.all(pieces.map((piece) => readingOf((each) => this.#dispatcher.send(piece, each)))).then(
      ([reading]) => sink.answered(reading!),
      (error: unknown) => sink.failed(error),
    );
  }

  /** Reads the server's clock, which is all that the reading of an empty batch contains. */
  #readTime(deadlineMs: number, sink: AnswerSink): void {
    const keys = [this.#keys.unusedKey];
    this.#dispatcher.send(
      { kind: 'check', batch: [{}], keys, deadlineMs },
      {
        answered: ({ nowTicks }) => sink.answered({ passed: 0, nowTicks, levelsTicks: [] }),
        failed: (error) => sink.failed(error),
      },
    );
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw closedError(this.#caller);
  }

  #noteLostRefund(count: number, cause: unknown): void {
    this.#counts.lostRefunds += count;
    this.#emit(refundLost(count, cause));
  }
}

export function closedError(caller: string): SluiceError {
  return new SluiceError('ERR_CLOSED', `This Redis store was closed. Make a new one with ${caller}().`);
}

import type {
  BucketName,
  ReadyOptions,
  Store,
  StoreCap,
  StoreCharge,
  StoreReading,
  StoreRefund,
  StoreTransaction,
} from '@sluice/core';
import { notifier } from '@sluice/core/store';
import { decideScript } from './decide-script.ts';
import { connectionChanged, type RedisStoreEvent } from './events.ts';
import type { LineChange, LineCounts, LineStatus } from './line/line-status.ts';
import { openLine } from './line/open-line.ts';
import { SharedStore } from './shared-store.ts';
import { checkRedisStoreOptions, type RedisStoreOptions } from './store-options.ts';

/** What a Redis store has done since it was made. */
export interface RedisStoreCounts extends LineCounts {
  /** Batches that it was asked to decide or to change. */
  readonly batches: number;
  /** Batches among them that were denied from memory, without a word to Redis. */
  readonly rememberedDenials: number;
  /** Buckets to which a denied batch over several slots could not give back what it had taken there. */
  readonly lostRefunds: number;
}

/** How a Redis store does: its connection, and what it has done. */
export interface RedisStoreStatus extends LineStatus {
  readonly counts: RedisStoreCounts;
}

/** What {@link redisStore} makes: a store that answers by promises. */
export interface RedisStore extends Store {
  spend(batch: readonly StoreTransaction[], deadlineMs?: number): Promise<StoreReading>;
  check(batch: readonly StoreTransaction[], deadlineMs?: number): Promise<StoreReading>;
  charge(batch: readonly StoreCharge[], deadlineMs?: number): Promise<StoreReading>;
  refund(batch: readonly StoreRefund[], deadlineMs?: number): Promise<StoreReading>;
  cap(batch: readonly StoreCap[], deadlineMs?: number): Promise<StoreReading>;
  reset(batch: readonly BucketName[], deadlineMs?: number): Promise<void>;
  /**
   * Resolves when Redis can be asked: at once when it can already. In a cluster that is when every primary can. It waits
   * for the connection that the store makes anyway, and makes no other.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE` and the cause when it can't after `timeoutMs` (default:
   * 10,000); the store goes on connecting until you close it. `ERR_CLOSED` when it is closed before; `ERR_OPTION`.
   */
  ready(options?: ReadyOptions): Promise<void>;
  /** Ends our own connections and timers, never the client that was given. Again, it does nothing. */
  close(): Promise<void>;
  /** How the connection is, and what was done. */
  status(): RedisStoreStatus;
}

/**
 * Makes a store that keeps its buckets in Redis, for any number of processes: each batch is one atomic decision of the
 * server, on the server's clock.
 *
 * It opens a connection of its own beside the client, with the client's settings; the client itself stays untouched.
 *
 * @example
 * const store = redisStore({ client: new Redis() });
 * const limiter = createLimiter({ limits, store });
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an option that is none, `ERR_OPTION` for a wrong value.
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  const { connection, onEvent, log, ...own } = checkRedisStoreOptions(options);
  const tell = notifier<RedisStoreEvent>({ onEvent, log: false });
  const onChange = (change: LineChange): void => tell(connectionChanged(change));
  const notify = notifier<RedisStoreEvent>({ onEvent, log });
  // Last, when nothing can be wrong any more: from here on there is a connection to close.
  const line = openLine({ ...connection, scripts: [decideScript], onChange });
  return new SharedStore({ ...own, line, notify });
}

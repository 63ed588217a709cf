import type {
  Awaitable,
  LeaseDescription,
  LeaseNumbers,
  StoreCharge,
  StoreReading,
  StoreRefund,
  StoreTransaction,
} from '@sluice/core';
import type { RedisStore, RedisStoreStatus } from '../batches/shared-store.ts';

/** The state of one stream of syncs. */
export interface LeaseStreamStatus {
  /**
   * `up`, `failing` while Redis does not answer its syncs, or `moving` while its slot of a cluster is moved to another node:
   * Redis then decides its buckets at each request.
   */
  readonly state: 'up' | 'failing' | 'moving';
  /** How long ago the last sync that was answered had been sent, in milliseconds; undefined before the first. */
  readonly lastSyncMs: number | undefined;
  /** The buckets that it syncs. */
  readonly keys: number;
}

/** The state of a store with leases. */
export interface LeasedStoreStatus extends RedisStoreStatus {
  readonly leases: {
    readonly streams: readonly LeaseStreamStatus[];
    /** The buckets that this process leases. */
    readonly keys: number;
    /** How many batches have waited for a sync. */
    readonly waits: number;
    /**
     * How many processes have synced leases in the last 90 seconds, with this one; undefined before the first sync. One that
     * ended without `close` counts until then.
     */
    readonly gateways: number | undefined;
    /**
     * How many tokens have lapsed in leases of this process and were not given back, at most: they have refilled since, their
     * bucket was reset or refunded, or the sync that gave them back was late or not answered. Leases of answers that were lost
     * are not known, and not counted.
     */
    readonly forfeited: number;
    /**
     * By how many tokens this process may exceed a limit right now: the most tokens that it let through for one bucket beyond
     * its leases, and that Redis has not counted yet. It is at most the overdraft of the limit, but in an outage with
     * `onFailure: 'local'`, when nothing can be counted. Those of all processes add up.
     */
    readonly estimatedOvershoot: number;
  };
}

/**
 * A store in Redis that decides limits with an `overshoot` in the process, made by `leasedStore`. It decides everything else
 * as a {@link RedisStore}. Where the process decides, it returns values, otherwise promises. They reject with the errors of a
 * {@link RedisStore}.
 */
export interface LeasedStore extends Omit<RedisStore, 'traits' | 'spend' | 'check' | 'charge' | 'refund' | 'status'> {
  readonly traits: {
    readonly keepsDeadline: true;
    readonly periods: true;
    readonly slots: true;
    readonly leases: true;
  };
  /** A value, or a promise if a transaction waits for Redis. */
  spend(batch: readonly StoreTransaction[], deadlineMs?: number): Awaitable<StoreReading>;
  /** A value if the process has a recent view of all buckets, otherwise a promise. */
  check(batch: readonly StoreTransaction[], deadlineMs?: number): Awaitable<StoreReading>;
  /** A value if all buckets are leased, otherwise a promise. */
  charge(batch: readonly StoreCharge[], deadlineMs?: number): Awaitable<StoreReading>;
  /**
   * Refunds decisions of the process in the process, which returns a value, or with the next sync. Refunds of named buckets
   * are made in Redis at once.
   */
  refund(batch: readonly StoreRefund[], deadlineMs?: number): Awaitable<StoreReading>;
  /** Describes how this store decides a limit with an `overshoot`. */
  describeLease(numbers: LeaseNumbers): LeaseDescription;
  /** Returns the state of the connection and of the leases, and the counters. */
  status(): LeasedStoreStatus;
}

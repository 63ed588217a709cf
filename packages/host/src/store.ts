import type { ReadyOptions, Store } from '@sluice/core';
import type { StoreBucket, StoreOperation, StoreReading, StoreReport } from '@sluice/core/store';
import type { HostRole } from './events.ts';

/** The state of a host store. */
export interface HostStoreStatus {
  readonly role: HostRole;
  /** When the role began, by the wall clock of this process. */
  readonly since: Date;
  /** The process that serves, or that served last. `undefined` if none has been found. */
  readonly serverPid: number | undefined;
  /** While this process serves: how many others are connected. Otherwise 0. */
  readonly clients: number;
  /** Why the store was `down` for the last time; it stays after a recovery. `undefined` if it never was. */
  readonly lastError: { readonly cause: unknown; readonly at: Date } | undefined;
}

/**
 * A store that the processes of a host share, made by `hostStore`. The limiter calls `run`.
 *
 * `deadlineMs` is how long the caller waits, in milliseconds: a number above 0, at most 60,000. Default: 1000. The process
 * that serves does not execute an operation whose deadline has passed. `run` rejects with a `SluiceError`:
 *
 * - `ERR_STORE_DEADLINE` if there was no answer in time;
 * - `ERR_STORE_UNAVAILABLE` if no process can be asked, and none can serve;
 * - `ERR_STORE_PERIOD` if the clock of the serving process is outside of the calendar periods of a bucket;
 * - `ERR_OPTION` if the deadline is wrong, or the operation is larger than 4 MB: some 50,000 buckets;
 * - `ERR_CLOSED` after `close()`.
 */
export interface HostStore extends Store {
  /**
   * Every call settles within its deadline, so a limiter sets no timer of its own. Buckets may have calendar periods, or
   * slots.
   */
  readonly traits: { readonly keepsDeadline: true; readonly periods: true; readonly slots: true };
  /** Executes an operation, atomically. Operations of one turn of the event loop travel together. */
  run(operation: StoreOperation, deadlineMs?: number): Promise<StoreReading>;
  /** Reads the holders of slots. */
  holders(buckets: readonly StoreBucket[], deadlineMs?: number): Promise<readonly (readonly string[])[]>;
  /**
   * Resolves when this process serves, or asks the one that does; immediately if that is already so.
   *
   * @throws {SluiceError} Rejects with `ERR_STORE_UNAVAILABLE` and the cause if that is not so within `timeoutMs`
   * (default: 10,000); the store continues to try until you close it. Rejects with `ERR_CLOSED` if the store is closed, and
   * with `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options.
   */
  ready(options?: ReadyOptions): Promise<void>;
  /**
   * Registers a listener: for `down` when no process can be asked and this one can't serve, at once if that is so already;
   * for `up` each time that there is a process to ask, or this one serves; for `pressure` while this process serves. A takeover
   * is not reported as `down`.
   *
   * @returns A function that removes the listener.
   * @throws {SluiceError} `ERR_CLOSED` when the store is closed.
   */
  watch(listener: (report: StoreReport) => void): () => void;
  /**
   * Sends what is still queued, and closes the connections. If this process serves, it hands its buckets and slots to the next
   * one, and resolves when that can begin, after a second at the latest. If the buckets can't be handed over, they are lost,
   * with the event `handover-failed`. A second call has no effect.
   */
  close(): Promise<void>;
  /** Returns the current state. */
  status(): HostStoreStatus;
}

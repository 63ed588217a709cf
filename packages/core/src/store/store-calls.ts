import type { Awaitable } from '../async/awaitable.ts';
import type { Time } from '../time/time.ts';
import type { Store, StoreOperation, StoreReading } from './store.ts';

/** Calls of stores whose operations may have calendar periods, and are repeated when these are stale. */
export interface PeriodicCalls {
  /**
   * Calls the store of the limiter.
   *
   * @param deadlineMs - For all repeats together. Omitted for a store that answers synchronously.
   * @throws {StalePeriodError} when the last repeat is rejected too.
   */
  run(store: Store, operation: StoreOperation, deadlineMs?: number): Awaitable<StoreReading>;
  /** Calls another store, which answers synchronously. */
  runOther(store: Store, operation: StoreOperation): Awaitable<StoreReading>;
}

/** How a limiter calls stores: as they are, until it has a limit with a calendar. */
export class StoreCalls {
  readonly time: Time;
  /** Whether the store of the limiter answers synchronously. */
  readonly answersAtOnce: boolean;
  /** Undefined while no limit has a calendar. The first one sets it. */
  periods: PeriodicCalls | undefined;

  constructor(time: Time, answersAtOnce: boolean) {
    this.time = time;
    this.answersAtOnce = answersAtOnce;
  }

  /** Calls the store of the limiter, see {@link PeriodicCalls.run}. */
  run(store: Store, operation: StoreOperation, deadlineMs?: number): Awaitable<StoreReading> {
    const { periods } = this;
    return periods === undefined ? store.run(operation, deadlineMs) : periods.run(store, operation, deadlineMs);
  }

  /** Calls another store, see {@link PeriodicCalls.runOther}. */
  runOther(store: Store, operation: StoreOperation): Awaitable<StoreReading> {
    const { periods } = this;
    return periods === undefined ? store.run(operation) : periods.runOther(store, operation);
  }
}

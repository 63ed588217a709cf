import { toNativePromise, type Awaitable } from '../async/awaitable.ts';
import { calendarNamed } from '../calendar/calendar.ts';
import { isStalePeriod } from '../store/calendar-period.ts';
import type { Store, StoreReading, StoreTransaction } from '../store/store.ts';
import type { StoreWall } from '../time/store-wall.ts';
import type { Time } from '../time/time.ts';

/**
 * How often a call is repeated. Once is enough for one clock. A cluster has several clocks: periods that are right for
 * the one that is furthest behind are right for all.
 */
const MAX_REPEATS = 3;

type Periodic = Pick<StoreTransaction, 'calendar' | 'period'>;

/** Batches, or alternatives of batches. */
type Periods = readonly (Periodic | readonly Periodic[])[];

/**
 * Returns a batch with the periods that are current at a time. They are computed from the names of the calendars, which
 * the transactions contain.
 */
export function renewed<Batch extends Periods>(batch: Batch, wallMs: number): Batch {
  return batch.map((one) => ('map' in one ? renewed(one, wallMs) : renewedOne(one, wallMs))) as unknown as Batch;
}

function renewedOne(transaction: Periodic, wallMs: number): Periodic {
  const { calendar } = transaction;
  return calendar === undefined ? transaction : { ...transaction, period: calendarNamed(calendar).periodAt(wallMs) };
}

/** A call of a store, and what it needs to be repeated. */
export interface PeriodicCall<Batch, Answer> {
  readonly batch: Batch;
  /** How long the caller waits, for all repeats together. Omitted for a store that answers synchronously. */
  readonly deadlineMs?: number;
  readonly send: (batch: Batch, deadlineMs?: number) => Awaitable<Answer>;
}

/**
 * Repeats calls of a store whose periods are stale. When a store rejects a call because its clock is in neither period,
 * the call is repeated with the periods of the store's clock. The estimate of this clock is corrected for later calls.
 */
export class StalePeriods {
  readonly #wall: StoreWall;
  readonly #time: Time;

  /** @param wall - The clock by which the periods of batches were chosen. */
  constructor(wall: StoreWall, time: Time) {
    this.#wall = wall;
    this.#time = time;
  }

  /** Whether any batch can have a period. Otherwise a store is called without this class. */
  get areUsed(): boolean {
    return this.#wall.isUsed;
  }

  /**
   * Calls the store of the limiter.
   *
   * @throws {StalePeriodError} when the last repeat is rejected too.
   */
  call<Batch extends Periods, Answer>(call: PeriodicCall<Batch, Answer>): Awaitable<Answer> {
    if (!this.areUsed) return call.send(call.batch, call.deadlineMs);
    const { batch, deadlineMs, send } = call;
    // Written out, because a spread costs more than the decision: see docs/hot-path.md.
    const beganMicros = deadlineMs === undefined ? 0 : this.#time.nowMicros();
    return this.#attempt({ batch, deadlineMs, send, beganMicros, left: MAX_REPEATS, wall: this.#wall });
  }

  /**
   * Spends at a store that answers synchronously. It creates no object for the call and no closure, because it is on the
   * hot path: see docs/hot-path.md.
   */
  spendAtOnce(store: Store, batch: readonly StoreTransaction[]): Awaitable<StoreReading> {
    try {
      return store.spend(batch);
    } catch (error) {
      return this.#spendAgain(store, batch, error);
    }
  }

  #spendAgain(store: Store, batch: readonly StoreTransaction[], error: unknown): Awaitable<StoreReading> {
    const send = (current: readonly StoreTransaction[]): Awaitable<StoreReading> => store.spend(current);
    return this.#again(
      { batch, deadlineMs: undefined, send, beganMicros: 0, left: MAX_REPEATS, wall: this.#wall },
      error,
    );
  }

  /**
   * Calls another store, which answers synchronously. Its clock does not correct the estimate of the limiter's store.
   */
  callOther<Batch extends Periods, Answer>(batch: Batch, send: (batch: Batch) => Awaitable<Answer>): Awaitable<Answer> {
    return this.#attempt({ batch, deadlineMs: undefined, send, beganMicros: 0, left: MAX_REPEATS, wall: undefined });
  }

  #attempt<Batch extends Periods, Answer>(attempt: Attempt<Batch, Answer>): Awaitable<Answer> {
    const { batch, deadlineMs, beganMicros, send } = attempt;
    const passedMs = deadlineMs === undefined ? 0 : (this.#time.nowMicros() - beganMicros) / 1000;
    try {
      const answer = toNativePromise(send(batch, deadlineMs && Math.max(1, deadlineMs - passedMs)));
      return answer instanceof Promise ? answer.catch((error: unknown) => this.#again(attempt, error)) : answer;
    } catch (error) {
      return this.#again(attempt, error);
    }
  }

  #again<Batch extends Periods, Answer>(attempt: Attempt<Batch, Answer>, error: unknown): Awaitable<Answer> {
    if (attempt.left === 0 || !isStalePeriod(error)) throw error;
    attempt.wall?.shown(error.wallMs);
    return this.#attempt({ ...attempt, batch: renewed(attempt.batch, error.wallMs), left: attempt.left - 1 });
  }
}

interface Attempt<Batch, Answer> extends Omit<PeriodicCall<Batch, Answer>, 'deadlineMs'> {
  readonly deadlineMs: number | undefined;
  readonly beganMicros: number;
  /** How many repeats are left. */
  readonly left: number;
  /** The estimate to correct. */
  readonly wall: StoreWall | undefined;
}

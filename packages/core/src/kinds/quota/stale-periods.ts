import { toNativePromise, type Awaitable } from '../../async/awaitable.ts';
import { isStalePeriod } from '../../store/calendar-period.ts';
import type { PeriodicBucket } from '../../store/provided.ts';
import type { PeriodicCalls, StoreCalls } from '../../store/store-calls.ts';
import type { Store, StoreReading, StoreOperation } from '../../store/store.ts';
import type { Time } from '../../time/time.ts';
import { renewed as renewedOne } from './named-periods.ts';
import { StoreWall } from './store-wall.ts';

/**
 * How often an operation is repeated. Once is enough for one clock. A cluster has several clocks: periods that are right
 * for the one that is furthest behind are right for all.
 */
const MAX_REPEATS = 3;

/**
 * Returns an operation with the periods that are current at a time. They are computed from the names of the calendars,
 * which its entries contain.
 */
export function renewed(operation: StoreOperation, wallMs: number): StoreOperation {
  const ofBatch = (batch: readonly PeriodicBucket[]): readonly PeriodicBucket[] =>
    batch.map((each) => renewedOne(each, wallMs));
  return (
    'alternatives' in operation
      ? { kind: operation.kind, alternatives: operation.alternatives.map(ofBatch) }
      : { kind: operation.kind, batch: ofBatch(operation.batch) }
  ) as StoreOperation;
}

/**
 * Repeats operations whose periods are stale. When a store rejects one because its clock is in neither period, it is
 * repeated with the periods of the store's clock. The estimate of this clock is corrected for later operations.
 */
export class StalePeriods implements PeriodicCalls {
  /** The clock by which the periods of batches are chosen. */
  readonly wall: StoreWall;
  readonly #time: Time;

  constructor({ time, answersAtOnce }: Pick<StoreCalls, 'time' | 'answersAtOnce'>) {
    this.wall = new StoreWall(time, answersAtOnce);
    this.#time = time;
  }

  run(store: Store, operation: StoreOperation, deadlineMs?: number): Awaitable<StoreReading> {
    const beganMicros = deadlineMs === undefined ? 0 : this.#time.nowMicros();
    return this.#attempt({ store, operation, deadlineMs, beganMicros, left: MAX_REPEATS, wall: this.wall });
  }

  /** The clock of the other store does not correct the estimate of the limiter's store. */
  runOther(store: Store, operation: StoreOperation): Awaitable<StoreReading> {
    return this.#attempt({
      store,
      operation,
      deadlineMs: undefined,
      beganMicros: 0,
      left: MAX_REPEATS,
      wall: undefined,
    });
  }

  #attempt(attempt: Attempt): Awaitable<StoreReading> {
    const { store, operation, deadlineMs, beganMicros } = attempt;
    const passedMs = deadlineMs === undefined ? 0 : (this.#time.nowMicros() - beganMicros) / 1000;
    try {
      const answer = toNativePromise(store.run(operation, deadlineMs && Math.max(1, deadlineMs - passedMs)));
      return answer instanceof Promise ? answer.catch((error: unknown) => this.#again(attempt, error)) : answer;
    } catch (error) {
      return this.#again(attempt, error);
    }
  }

  #again(attempt: Attempt, error: unknown): Awaitable<StoreReading> {
    if (attempt.left === 0 || !isStalePeriod(error)) throw error;
    attempt.wall?.shown(error.wallMs);
    const operation = renewed(attempt.operation, error.wallMs);
    return this.#attempt({ ...attempt, operation, left: attempt.left - 1 });
  }
}

interface Attempt {
  readonly store: Store;
  readonly operation: StoreOperation;
  readonly deadlineMs: number | undefined;
  readonly beganMicros: number;
  /** How many repeats are left. */
  readonly left: number;
  /** The estimate to correct. */
  readonly wall: StoreWall | undefined;
}

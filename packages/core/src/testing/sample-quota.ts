import assert from 'node:assert/strict';
import type { Awaitable } from '../async/awaitable.ts';
import { StalePeriodError, type CalendarPeriod } from '../store/calendar-period.ts';
import type { Mode, Store, StoreCharge, StoreReading, StoreRefund, StoreTransaction } from '../store/store.ts';
import { callsOf } from './store-calls.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS: number = 24 * HOUR_MS;
/** The tokens of a quota. */
export const COUNT = 5;
const LONG_PAST: CalendarPeriod = [-9e12, -9e12 + HOUR_MS, -9e12 + 2 * HOUR_MS];

/** The entries of batches for a quota of five tokens. One token is one tick. */
export class Quota {
  readonly period: CalendarPeriod;

  constructor(period: CalendarPeriod) {
    this.period = period;
  }

  /** The quota as a caller names it whose clock is ahead by some periods. */
  later(ms: number): Quota {
    const [start, end, next] = this.period;
    return new Quota([start + ms, end + ms, next + ms]);
  }

  spend(id: string, cost = 1, mode: Mode = 'check-and-spend'): StoreTransaction {
    return { ...this.charge(id, cost), fitTicks: COUNT, mode };
  }

  charge(id: string, cost = 1): StoreCharge {
    return { limit: 'Quota', id, incrementTicks: cost, capTicks: COUNT, period: this.period };
  }

  refund(id: string, cost = 1, tatAfterSpendTicks?: number): StoreRefund {
    return { ...this.charge(id, cost), tatAfterSpendTicks };
  }
}

/** Returns a quota whose period runs by the store's wall clock, and ends after `leftMs`. */
export async function quotaOf(store: Store, leftMs: number = HOUR_MS / 2, lengthMs: number = HOUR_MS): Promise<Quota> {
  const end = (await wallOf(store)) + leftMs;
  return new Quota([end - lengthMs, end, end + lengthMs]);
}

/** Returns the store's wall clock, from the error for a stale period. */
export async function wallOf(store: Store): Promise<number> {
  return (await staleError(() => callsOf(store).check([new Quota(LONG_PAST).spend('any')]))).wallMs;
}

/** Makes a call with a stale period, and returns the error with which the store rejects it. */
export async function staleError(call: () => Awaitable<unknown>): Promise<StalePeriodError> {
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof StalePeriodError, `a stale period was rejected with ${String(error)}`);
    assert.equal(error.code, 'ERR_STORE_PERIOD');
    assert.ok(Number.isInteger(error.wallMs), 'the error has no wall time');
    return error;
  }
  throw new assert.AssertionError({ message: 'a call with a stale period was not rejected' });
}

/** Asserts the level of the only bucket of a reading. */
export function assertLevel({ levelsTicks }: StoreReading, level: number): void {
  assert.deepEqual(levelsTicks, [level]);
}

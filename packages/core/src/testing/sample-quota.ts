import { assert } from './assert.ts';
import type { Awaitable } from '../async/awaitable.ts';
import { StalePeriodError, type CalendarPeriod } from '../store/calendar-period.ts';
import type { Mode, Store, StoreCharge, StoreReading, StoreRefund, StoreTransaction } from '../store/store.ts';
import type { StoreUnderTest } from './store-case.ts';
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

  /** The same of a quota with another number of tokens. */
  spendOf(count: number, id: string, cost: number): StoreTransaction {
    return { ...this.spend(id, cost), fitTicks: count, capTicks: count };
  }
}

/** Returns a quota whose period runs by the store's wall clock, and ends after `leftMs`. */
export async function quotaOf(store: Store, leftMs: number = HOUR_MS / 2, lengthMs: number = HOUR_MS): Promise<Quota> {
  const end = (await wallOf(store)) + leftMs;
  return new Quota([end - lengthMs, end, end + lengthMs]);
}

/** For how long a period lasts whose end a test waits for. */
const SHORT_MS = 400;
/** How often a test is tried that is too slow for such a period. */
const TRIES = 5;

/**
 * Runs a test with a quota whose period ends soon, and with a function that waits for the end. It is tried again, with
 * another id, if it fails and the period may have ended while it ran: a machine may be busy.
 */
export async function inShortPeriod(
  { store, advance }: Pick<StoreUnderTest, 'store' | 'advance'>,
  run: (quota: Quota, id: string, pass: () => Awaitable<void>) => Promise<void>,
  lengthMs: number = HOUR_MS,
): Promise<void> {
  for (let left = TRIES; ; left--) {
    // oxlint-disable no-await-in-loop -- one after the other
    const quota = await quotaOf(store, SHORT_MS, lengthMs);
    const isOver = async (): Promise<boolean> => (await wallOf(store)) >= quota.period[1];
    let wasOver = isOver;
    const pass = async (): Promise<void> => {
      const over = await isOver();
      wasOver = async () => over;
      await advance(SHORT_MS + 20);
    };
    try {
      return await run(quota, `id-${left}`, pass);
    } catch (error) {
      if (left === 1 || !(await wasOver())) throw error;
    }
    // oxlint-enable no-await-in-loop
  }
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

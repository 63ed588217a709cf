import { complaint } from '../checks/errors.ts';

/** A source of time. It should be monotonic; a clock that steps back never grants tokens. */
export interface Clock {
  /** Returns the time in microseconds since any fixed origin, a whole number. */
  nowMicros(): number;
}

/**
 * The process's monotonic clock, `performance.now()`. It is independent of the wall clock, of NTP corrections and of
 * time zones.
 */
export const monotonicClock: Clock = {
  nowMicros: () => microsOf(performance.now()),
};

/** Converts milliseconds to whole microseconds, rounded down. */
export function microsOf(ms: number): number {
  return Math.floor(ms * 1000);
}

/**
 * Validates the option `clock`.
 *
 * @throws {SluiceError} `ERR_OPTION` when it is not a clock.
 */
export function checkClock(clock: unknown): void {
  if (typeof (clock as Partial<Clock> | null)?.nowMicros === 'function') return;
  const remedy =
    "For tests use `new FakeClock(0)` of '@sluice/core/testing'; for the process's own clock leave it out.";
  throw complaint('ERR_OPTION', { option: 'clock', demand: 'an object with nowMicros()', value: clock, remedy });
}

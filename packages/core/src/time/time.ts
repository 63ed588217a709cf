// The room time: the one source of time, and deadlines.
import { complaint } from '../checks/errors.ts';

/** Cancels a callback that has not run yet; does nothing afterwards. */
export type Cancel = () => void;

/** A timer. It can be left running while it is not needed, which is cheaper than to cancel it and to set another. */
export interface Alarm {
  /** Lets the timer keep the process alive. This is the initial state. */
  ref(): void;
  /** Stops the timer from keeping the process alive. */
  unref(): void;
  /** Cancels the timer; does nothing when it has run. */
  cancel: Cancel;
}

/**
 * A source of time: two clocks, timers, and the turns of the event loop. A limiter or a store reads the time only here,
 * so that a test moves all of it with one `FakeTime` of `@sluice/core/testing`.
 */
export interface Time {
  /**
   * Returns the time in microseconds since any fixed origin, a whole number. It should be monotonic; a clock that steps
   * back never grants tokens.
   */
  nowMicros(): number;
  /**
   * Returns the wall clock: milliseconds since 1970 (UTC), a whole number. Used for what people read, such as dates, and
   * by the memory store for calendar periods.
   */
  wallNow(): number;
  /**
   * Calls `run` once, after `delayMs`.
   *
   * @param delayMs - Milliseconds, at most 2,147,483,647. Below 1 counts as 1.
   */
  alarm(delayMs: number, run: () => void): Alarm;
  /** Calls `run` once, after the event loop has processed the input that has already arrived. */
  endOfTurn(run: () => void): Cancel;
  /**
   * Whether a timer belongs to the request that set it, as in a Cloudflare Worker: it never runs once that request is
   * over, and none can be set outside of requests. Each wait then has a timer of its own, and nothing relies on a timer
   * that another request has set. Default: false, requests share timers.
   */
  readonly timersEndWithRequest?: boolean | undefined;
}

const METHODS = ['nowMicros', 'wallNow', 'alarm', 'endOfTurn'] as const;

/**
 * Validates the option `time`.
 *
 * @throws {SluiceError} `ERR_OPTION` when it lacks a method of {@link Time}.
 */
export function checkTime(time: unknown): void {
  const given = time as Partial<Time> | null | undefined;
  if (METHODS.every((method) => typeof given?.[method] === 'function')) return;
  throw complaint('ERR_OPTION', {
    option: 'time',
    demand: `an object with the methods ${METHODS.join(', ')}`,
    value: time,
    remedy: "For tests use `new FakeTime()` of '@sluice/core/testing'; for the process's own time leave it out.",
  });
}

/**
 * Returns the time of the clock, in microseconds, when so many milliseconds from now have passed; undefined for `Infinity`.
 *
 * @param ms - May be negative, for a time that has passed.
 */
export function dueIn(ms: number, time: Time): number | undefined {
  return ms === Infinity ? undefined : time.nowMicros() + Math.floor(ms * 1000);
}

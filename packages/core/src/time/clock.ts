import { systemTime } from './time.ts';

/** A source of time. It should be monotonic; a clock that steps back never grants tokens. */
export interface Clock {
  /** Returns the time in microseconds since any fixed origin, a whole number. */
  nowMicros(): number;
}

/** The process's monotonic clock. */
export const monotonicClock: Clock = systemTime;

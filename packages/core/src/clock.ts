/** A source of time. It should be monotonic; one that steps back never grants tokens. */
export interface Clock {
  /** Microseconds since any fixed origin, a whole number. */
  nowMicros(): number;
}

/** The process's own monotonic clock: no wall-clock step, NTP correction or time zone touches it. */
export const monotonicClock: Clock = {
  nowMicros: () => microsOf(performance.now()),
};

/** Milliseconds as whole microseconds, rounded down. */
export function microsOf(ms: number): number {
  return Math.floor(ms * 1000);
}

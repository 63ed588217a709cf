const MINUTE_MICROS = 60_000_000;

/**
 * Reports something that can happen on every request: the first time at once, then at most once a minute with the
 * number of times since. So the log is not flooded, and everything is counted.
 */
export class Tally {
  readonly #report: (count: number, cause: unknown) => void;
  #count = 0;
  #cause: unknown;
  #reportedMicros: number | undefined;

  constructor(report: (count: number, cause: unknown) => void) {
    this.#report = report;
  }

  add(count: number, cause: unknown, nowMicros: number): void {
    this.#count += count;
    this.#cause = cause;
    const since = this.#reportedMicros === undefined ? Infinity : nowMicros - this.#reportedMicros;
    if (since < 0 || since >= MINUTE_MICROS) this.flush(nowMicros);
  }

  /** Reports what has not been reported yet. */
  flush(nowMicros: number): void {
    if (this.#count === 0) return;
    const count = this.#count;
    this.#count = 0;
    this.#reportedMicros = nowMicros;
    this.#report(count, this.#cause);
  }
}

import type { Alarm, Time } from '../time/time.ts';

/** At most so many changes within any {@link SPAN_MS}: enough for two outages, each with its beginning and its end. */
const MAX_CHANGES = 4;
const SPAN_MS = 10_000;

/**
 * Passes on changes of a state, at most four in any ten seconds. When the state changes faster, the latest change is
 * passed on as soon as that is possible, and those before it are left out. The last change that is passed on is
 * therefore always the current state.
 *
 * Where the timer for it has ended with the request that set it, the next change passes the span instead.
 */
export class ThrottledChanges<Change> {
  readonly #time: Time;
  readonly #pass: (change: Change, leftOut: number) => void;
  /** The times of the last {@link MAX_CHANGES} changes that were passed on, the oldest first. */
  readonly #passedMicros: number[] = Array.from({ length: MAX_CHANGES }, () => -Infinity);
  #leftOut = 0;
  #latest: Change | undefined;
  #alarm: Alarm | undefined;
  #alarmMicros = 0;

  /** @param pass - Called with a change and the number of changes that were left out before it. */
  constructor(time: Time, pass: (change: Change, leftOut: number) => void) {
    this.#time = time;
    this.#pass = pass;
  }

  /** Passes a change on: at once, or after the span, unless a later change has replaced it. */
  add(change: Change): void {
    if (this.#alarm !== undefined) this.#leftOut += 1;
    this.#latest = change;
    const nowMicros = this.#time.nowMicros();
    if (this.#alarm !== undefined && nowMicros < this.#alarmMicros) return;
    const sinceMs = (nowMicros - this.#passedMicros[0]!) / 1000;
    if (sinceMs >= SPAN_MS) return this.#passLatest();
    // After a step back of the clock, at most one span.
    const delayMs = SPAN_MS - Math.max(0, sinceMs);
    this.#alarm?.cancel();
    this.#alarmMicros = nowMicros + delayMs * 1000;
    this.#alarm = this.#time.alarm(delayMs, () => this.#passLatest());
    this.#alarm.unref();
  }

  /** Leaves out what was not passed on yet, and cancels the timer. */
  cancel(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    this.#leftOut = 0;
  }

  #passLatest(): void {
    const leftOut = this.#leftOut;
    this.cancel();
    this.#passedMicros.shift();
    this.#passedMicros.push(this.#time.nowMicros());
    this.#pass(this.#latest!, leftOut);
  }
}

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

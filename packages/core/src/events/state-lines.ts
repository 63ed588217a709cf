import type { Time } from '../time/time.ts';

/** At most so many lines within {@link SPAN_MS}: enough for two outages, each with its beginning and its end. */
const MAX_LINES = 4;
const SPAN_MS = 10_000;

/**
 * Writes changes of a store's state to the log, at most four lines in ten seconds. When a store changes faster, further
 * changes are omitted, and the latest one is written at the end of the ten seconds with the number of the others. The
 * last line therefore always shows the current state.
 */
export class StateLines {
  readonly #log: (line: string) => void;
  readonly #time: Time;
  /** Lines written in the current span of ten seconds; 0 outside of a span. */
  #lines = 0;
  #latest = '';
  #leftOut = 0;

  constructor(log: (line: string) => void, time: Time) {
    this.#log = log;
    this.#time = time;
  }

  add(message: string): void {
    if (this.#lines < MAX_LINES) return this.#write(message);
    this.#latest = message;
    this.#leftOut += 1;
  }

  #write(line: string): void {
    if (this.#lines === 0) this.#time.alarm(SPAN_MS, () => this.#endSpan()).unref();
    this.#lines += 1;
    this.#log(line);
  }

  #endSpan(): void {
    this.#lines = 0;
    if (this.#leftOut === 0) return;
    const others = this.#leftOut - 1;
    this.#leftOut = 0;
    this.#write(others === 0 ? this.#latest : `${this.#latest} (and ${others} more changes since the last line)`);
  }
}

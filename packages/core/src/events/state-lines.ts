/** Lines of a store's state within {@link SPAN_MS}: two outages, each from its beginning to its end. */
const MAX_LINES = 4;
const SPAN_MS = 10_000;

/** Runs once, so many milliseconds from now. A process that ends before does not wait for it. */
export type Later = (delayMs: number, run: () => void) => void;

const unawaitedTimer: Later = (delayMs, run) => void setTimeout(run, delayMs).unref();

/**
 * Writes each change of a store's state to the log at once, four in ten seconds. Of a store that comes and goes faster
 * the rest is left out, and at the end of the ten seconds the latest is written with the count of those left out: the
 * last line is always how the store does.
 */
export class StateLines {
  readonly #log: (line: string) => void;
  readonly #later: Later;
  /** Written in this span of ten seconds; 0 when none has begun. */
  #lines = 0;
  #latest = '';
  #leftOut = 0;

  constructor(log: (line: string) => void, later: Later = unawaitedTimer) {
    this.#log = log;
    this.#later = later;
  }

  add(message: string): void {
    if (this.#lines < MAX_LINES) return this.#write(message);
    this.#latest = message;
    this.#leftOut += 1;
  }

  #write(line: string): void {
    if (this.#lines === 0) this.#later(SPAN_MS, () => this.#endSpan());
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

const QUICK_MS = 250;
const LONG_MS = 1000;

/**
 * How long an attempt to connect may go without a sign of life. Attempts are quick, so that one that hangs is soon
 * followed by one that may not; each fourth is patient, so that a server far away is reached too.
 */
export class Patience {
  #attempt = 0;

  /** What this attempt has, in milliseconds. */
  get ms(): number {
    return this.#attempt % 4 === 0 ? LONG_MS : QUICK_MS;
  }

  /** Begins the next attempt. */
  next(): void {
    this.#attempt += 1;
  }

  /** The attempt led to a server. */
  reset(): void {
    this.#attempt = 0;
  }
}

const QUICK_MS = 250;
const LONG_MS = 1000;

/**
 * The time that an attempt to connect may take without a sign of life. Most attempts have a short time, so that a
 * hanging attempt is soon replaced. Every fourth has a long time, so that a distant server is reached too.
 */
export class Patience {
  #attempt = 0;

  /** The time of the current attempt, in milliseconds. */
  get ms(): number {
    return this.#attempt % 4 === 0 ? LONG_MS : QUICK_MS;
  }

  /** Called when an attempt begins. */
  next(): void {
    this.#attempt += 1;
  }

  /** Called when an attempt has succeeded. */
  reset(): void {
    this.#attempt = 0;
  }
}

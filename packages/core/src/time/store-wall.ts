import type { Time } from './time.ts';

/**
 * The wall clock of a store, as this process estimates it. The store's clock chooses calendar periods, so a caller whose
 * own clock is wrong would name stale ones with each call. It learns the difference from the first that is rejected.
 */
export class StoreWall {
  readonly #time: Time;
  /** The store's clock minus that of this process. */
  #aheadMs = 0;
  #isUsed = false;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Whether anybody has asked for it: then there may be transactions with periods. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Returns the estimate, in milliseconds of Unix time. */
  now(): number {
    this.#isUsed = true;
    return this.#time.wallNow() + this.#aheadMs;
  }

  /**
   * Takes note of the time that the store has shown.
   *
   * @param wallMs - The store's wall clock just now.
   */
  shown(wallMs: number): void {
    this.#aheadMs = wallMs - this.#time.wallNow();
  }
}

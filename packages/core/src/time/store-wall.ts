import type { Time } from './time.ts';

/**
 * An estimate of a store's wall clock. The store's clock chooses calendar periods, so each call of a process with a
 * wrong clock would have stale periods. The first rejected call shows the difference between the two clocks.
 */
export class StoreWall {
  readonly #time: Time;
  /** The store's clock minus that of this process. */
  #aheadMs = 0;
  #isUsed = false;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Whether the estimate was ever read: then there may be transactions with periods. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Returns the estimate, in milliseconds of Unix time. */
  now(): number {
    this.#isUsed = true;
    return this.#time.wallNow() + this.#aheadMs;
  }

  /**
   * Corrects the estimate.
   *
   * @param wallMs - The current time of the store's wall clock.
   */
  shown(wallMs: number): void {
    this.#aheadMs = wallMs - this.#time.wallNow();
  }
}

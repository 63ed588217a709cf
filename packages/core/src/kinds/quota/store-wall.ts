import type { Time } from '../../time/time.ts';

/**
 * An estimate of a store's wall clock. The store's clock chooses calendar periods, so each call of a process with a
 * wrong clock would have stale periods. The first rejected call shows the difference between the two clocks.
 */
export class StoreWall {
  readonly #time: Time;
  readonly #answersAtOnce: boolean;
  /** The store's clock minus that of this process. */
  #aheadMs = 0;
  /** The time of the last estimate or correction. */
  #latestMs: number | undefined;

  /** @param answersAtOnce - Whether the store answers synchronously: then a rejected period costs next to nothing. */
  constructor(time: Time, answersAtOnce: boolean) {
    this.#time = time;
    this.#answersAtOnce = answersAtOnce;
  }

  /** Returns the estimate, in milliseconds of Unix time. */
  now(): number {
    return (this.#latestMs = this.#time.wallNow() + this.#aheadMs);
  }

  /**
   * Returns the time by which a call of the store chooses its periods. For a store that answers synchronously, no clock is
   * read: the store reads its own clock anyway, and when it rejects the call, its time is returned from then on.
   */
  latest(): number {
    return this.#answersAtOnce && this.#latestMs !== undefined ? this.#latestMs : this.now();
  }

  /**
   * Corrects the estimate.
   *
   * @param wallMs - The current time of the store's wall clock.
   */
  shown(wallMs: number): void {
    this.#aheadMs = wallMs - this.#time.wallNow();
    this.#latestMs = wallMs;
  }
}

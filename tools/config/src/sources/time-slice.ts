import type { Time } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';

/** How long work may block the event loop: well below the 20 ms that users notice. */
const SLICE_MICROS = 4000;

/** Divides long work into slices, between which the event loop runs. */
export class TimeSlice {
  readonly #time: Time;
  #beganMicros: number;

  /**
   * @param time - Default: the process's own, even where limits are watched by another time: what must not be blocked
   * is the event loop of the process.
   */
  constructor(time: Time = systemTime) {
    this.#time = time;
    this.#beganMicros = time.nowMicros();
  }

  /** Whether the slice is over and the caller should await {@link TimeSlice.pass}. */
  get isOver(): boolean {
    return this.#time.nowMicros() - this.#beganMicros >= SLICE_MICROS;
  }

  /** Lets the event loop run once, and begins the next slice. */
  async pass(): Promise<void> {
    await new Promise<void>((resolve) => this.#time.endOfTurn(resolve));
    this.#beganMicros = this.#time.nowMicros();
  }
}

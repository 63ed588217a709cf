import { setImmediate } from 'node:timers/promises';

/** How long work may block the event loop: well below the 20 ms that users notice. */
const SLICE_MS = 4;

/** Divides long work into slices, between which the event loop runs. */
export class TimeSlice {
  #beganMs = performance.now();

  /** Whether the slice is over and the caller should await {@link TimeSlice.pass}. */
  get isOver(): boolean {
    return performance.now() - this.#beganMs >= SLICE_MS;
  }

  /** Lets the event loop run once, and begins the next slice. */
  async pass(): Promise<void> {
    await setImmediate();
    this.#beganMs = performance.now();
  }
}

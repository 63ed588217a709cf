import { setImmediate } from 'node:timers/promises';

/** How long work goes on before others have their turn: short beside the 20 ms that are a noticeable stall. */
const SLICE_MS = 4;

/** Shares the event loop: long work asks between its steps whether others should have their turn. */
export class Turns {
  #beganMs = performance.now();

  /** Whether it is time for a {@link Turns.pass}. */
  get isOver(): boolean {
    return performance.now() - this.#beganMs >= SLICE_MS;
  }

  /** Lets all that waits have its turn. */
  async pass(): Promise<void> {
    await setImmediate();
    this.#beganMs = performance.now();
  }
}

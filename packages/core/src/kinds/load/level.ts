import { LastingSignal } from './lasting.ts';
import { movedLevel, type Ramp } from './ramp.ts';

/**
 * How long everything else is shed before the requests with the share 1 are. What has queued up before keeps the worker
 * busy for some seconds more, even when enough is shed already.
 */
const PAUSE_MS = 10_000;

/** What is shed, from 0 (nothing) to 1 (everything). */
export class Level {
  readonly #ramp: Ramp;
  readonly #lasting: LastingSignal;
  #value = 0;
  #pausedMs = 0;

  constructor(ramp: Ramp) {
    this.#ramp = ramp;
    this.#lasting = new LastingSignal(ramp);
  }

  get value(): number {
    return this.#value;
  }

  /**
   * Moves the level by a reading of the signal.
   *
   * @param signal - 0 to 1.
   * @param elapsedMs - The time since the last reading, at least 0.
   * @param pause - The level above which the most important requests are shed. It does not rise further at once.
   */
  move(signal: number, elapsedMs: number, pause: number): void {
    const isLasting = this.#lasting.add(signal, elapsedMs);
    const isPaused = this.#value === pause && signal > this.#ramp.busy;
    this.#pausedMs = isPaused ? this.#pausedMs + elapsedMs : 0;
    if (!isLasting) return;
    const moved = movedLevel(this.#value, signal, elapsedMs, this.#ramp);
    const crosses = pause > 0 && this.#value <= pause && moved > pause;
    this.#value = crosses && this.#pausedMs < PAUSE_MS ? pause : moved;
  }

  /** Sheds nothing, until the next reading moves the level. */
  reset(): void {
    this.#value = 0;
    this.#pausedMs = 0;
  }
}

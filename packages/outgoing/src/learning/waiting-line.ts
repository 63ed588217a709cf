import type { Time } from '@sluice/core';
import type { Alarm } from '@sluice/core/store';

interface Waiter {
  readonly opensMicros: () => number;
  readonly resume: () => void;
}

/** Calls that wait for the first of them to be let through, in the order in which they came. */
export class WaitingLine {
  readonly #time: Time;
  readonly #waiters = new Set<Waiter>();
  #alarm: Alarm | undefined;

  constructor(time: Time) {
    this.#time = time;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /**
   * Waits to be let through.
   *
   * @param opensMicros - Returns when that will be, as far as is known.
   * @returns A promise that rejects with the reason of the signal.
   */
  turn(opensMicros: () => number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        signal?.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        this.look();
        reject(signal!.reason as Error);
      };
      const resume = (): void => {
        leave();
        resolve();
      };
      const waiter: Waiter = { opensMicros, resume };
      if (signal?.aborted === true) return reject(signal.reason as Error);
      signal?.addEventListener('abort', abort);
      this.#waiters.add(waiter);
      this.#setAlarm();
    });
  }

  /** Lets the first call through if it may begin. When that has begun, or waits elsewhere, look again. */
  look(): void {
    const [first] = this.#waiters;
    if (first !== undefined && first.opensMicros() <= this.#time.nowMicros()) return first.resume();
    this.#setAlarm();
  }

  #setAlarm(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    const [first] = this.#waiters;
    if (first === undefined) return;
    const delayMs = Math.ceil((first.opensMicros() - this.#time.nowMicros()) / 1000);
    this.#alarm = this.#time.alarm(delayMs, () => this.look());
  }
}

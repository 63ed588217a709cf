import type { Time } from '@sluice/core';
import type { Alarm } from '@sluice/core/store';

/** How a call waits. */
export interface Turn {
  /** Returns when it will be let through, as far as is known. */
  readonly opensMicros: () => number;
  /** When its time is over; `Infinity` if it has no end. */
  readonly untilMicros: number;
  readonly signal: AbortSignal | undefined;
}

interface Waiter extends Pick<Turn, 'opensMicros'> {
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

  /**
   * Waits to be let through, or until its time is over.
   *
   * @returns A promise that rejects with the reason of the signal.
   */
  turn({ opensMicros, untilMicros, signal }: Turn): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        end?.cancel();
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
      const end = untilMicros === Infinity ? undefined : this.#time.alarm(this.#msUntil(untilMicros), resume);
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

  /** Lets each call look at its time again, because the line will stand for longer. They come back in the same order. */
  resumeAll(): void {
    for (const { resume } of this.#waiters) resume();
  }

  #setAlarm(): void {
    this.#alarm?.cancel();
    this.#alarm = undefined;
    const [first] = this.#waiters;
    if (first !== undefined) this.#alarm = this.#time.alarm(this.#msUntil(first.opensMicros()), () => this.look());
  }

  #msUntil(micros: number): number {
    return Math.ceil((micros - this.#time.nowMicros()) / 1000);
  }
}

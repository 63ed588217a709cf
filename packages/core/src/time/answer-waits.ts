import type { Cancel, Time } from './time.ts';

/** A wait that is so old is that of a request that has ended, and its timer with it: no deadline and no stall is as long. */
const FORGOTTEN_MICROS = 60_000_000;

/**
 * Waits for promises of the program, for each at most as long. Each wait has a timer of its own: many calls of a store have
 * {@link Deadlines}, which share one.
 */
export class AnswerWaits {
  readonly #longestMs: number;
  readonly #time: Time;
  /** The function that ends each wait early, with the time when it began, the oldest first. */
  readonly #waits = new Map<() => void, number>();

  constructor(longestMs: number, time: Time) {
    this.#longestMs = longestMs;
    this.#time = time;
  }

  /**
   * Settles like the promise, or rejects with the error of `makeError` when the time is over. Input that has arrived by then
   * is processed first: after a stall of the process, an answer in its socket buffers wins.
   */
  race<T>(answer: Promise<T>, makeError: () => unknown): Promise<T> {
    const nowMicros = this.#time.nowMicros();
    this.#forget(nowMicros - FORGOTTEN_MICROS);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        cancel();
        this.#waits.delete(miss);
      };
      const miss = (): void => {
        end();
        reject(makeError());
      };
      let cancel: Cancel = this.#time.alarm(this.#longestMs, () => (cancel = this.#time.endOfTurn(miss))).cancel;
      this.#waits.set(miss, nowMicros);
      const ending =
        <V>(settle: (value: V) => void) =>
        (value: V): void => {
          end();
          settle(value);
        };
      answer.then(ending(resolve), ending(reject));
    });
  }

  /** Ends all waits now, as if their time was over. */
  expireAll(): void {
    for (const miss of this.#waits.keys()) miss();
  }

  /** Drops the waits of requests that have ended before: nobody waits for their outcome, and none of their timers runs. */
  #forget(beganMicros: number): void {
    for (const [miss, micros] of this.#waits) {
      if (micros > beganMicros) return;
      this.#waits.delete(miss);
    }
  }
}

import type { Decision, Limiter, SpendEntry } from '@sluice/core';
import type { FakeTime } from '@sluice/core/testing';
import { EndQueue } from './end-queue.ts';

/** The most requests that hold slots at the same time, so that the memory does not depend on the log. */
export const MAX_IN_PROGRESS = 20_000;

/** Decides requests by concurrency limits, and releases the slots of each allowed one at its end. */
export class RequestsInProgress {
  /** Requests whose slots were released before their end, because too many were in progress. */
  endedEarly = 0;
  readonly #limiter: Limiter;
  readonly #time: FakeTime;
  readonly #names: ReadonlySet<string>;
  readonly #held = new EndQueue<Decision>();

  /** @param names - The concurrency limits. */
  constructor(limiter: Limiter, time: FakeTime, names: ReadonlySet<string>) {
    this.#limiter = limiter;
    this.#time = time;
    this.#names = names;
  }

  /**
   * Moves the time forward. Requests that have ended then hold no slot any more, and the others renew theirs.
   *
   * @param micros - Not before the present time, in microseconds since 1970.
   */
  moveTo(micros: number): void {
    while (this.#held.firstEnd <= micros) this.#releaseFirst();
    this.#time.advance((micros - this.#time.nowMicros()) / 1000);
  }

  /**
   * Decides a request that arrives now.
   *
   * @param durationMicros - At most a day: while it holds its slots, the limiter renews them.
   */
  decide(entries: readonly SpendEntry[], durationMicros: number): Decision {
    if (!entries.some(({ limit }) => this.#names.has(limit))) return this.#limiter.spendSync(entries);
    const held = this.#limiter.spendSync(entries, { hold: true });
    if (!held.allowed) return held;
    // A request that waits for its turn ends later than in the log.
    const delayMicros = Math.ceil(held.delayMs * 1000);
    this.#held.add(this.#time.nowMicros() + delayMicros + durationMicros, held);
    if (this.#held.size > MAX_IN_PROGRESS) {
      this.endedEarly++;
      this.#releaseFirst();
    }
    return held;
  }

  #releaseFirst(): void {
    // At once, because the memory store answers at once.
    void this.#held.take().release();
  }
}

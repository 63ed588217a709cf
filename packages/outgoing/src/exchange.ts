import type { Decision, SpendEntry } from '@sluice/core';
import { timeOf } from '@sluice/core/kit';
import type { ScheduleOptions, Scheduler } from '@sluice/core/scheduler';
import type { Learning } from './learning/learning.ts';
import type { ProviderAnswer, LearntCall } from './learning/learnt-call.ts';

/** What {@link Exchange}s have in common. */
interface ExchangeParts {
  readonly scheduler: Scheduler;
  /** Undefined if nothing is to be learnt. */
  readonly learning: Learning | undefined;
  readonly entries: readonly SpendEntry[];
  /** Until when it must have begun, by the clock of the limiter. */
  readonly untilMicros: number;
}

/**
 * One request to an API and its answer: what it has taken, it holds from its beginning until its answer has ended. All doors
 * are made of it.
 */
export class Exchange {
  readonly #parts: ExchangeParts;
  #learnt: LearntCall | undefined;
  #end: (() => void) | undefined;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  /**
   * Waits for the turn of the request, and sends it.
   *
   * @param send - Begins to send it. Call {@link Exchange.ended} when its answer has ended, or will not come.
   * @returns A promise that resolves after that.
   * @throws {SluiceError} Rejects with the errors of `Scheduler.run`, and with the reason of the signal. The request was not
   * sent then.
   */
  begin(send: () => void, options: ScheduleOptions<void>): Promise<void> {
    const { scheduler, learning, entries, untilMicros } = this.#parts;
    return new Promise((resolve, reject) => {
      const work = (decision: Decision): Promise<void> => {
        const learnt = learning?.begin(entries, { signal: options.signal, untilMicros });
        if (!(learnt instanceof Promise)) return this.#send(send, learnt);
        return learnt.then(
          (call: LearntCall) => this.#send(send, call),
          async (error: unknown) => {
            // Its caller does not wait until the store has back what was taken.
            reject(error);
            await scheduler.limiter.refund(decision);
            throw error;
          },
        );
      };
      scheduler.run(entries, work, options).then(resolve, reject);
    });
  }

  /** Whether it can begin when so many milliseconds have passed. */
  mayBeginIn(ms: number): boolean {
    const { scheduler, untilMicros } = this.#parts;
    return timeOf(scheduler.limiter).nowMicros() + ms * 1000 < untilMicros;
  }

  /** Returns an exchange that takes the same, within the same time. */
  again(): Exchange {
    return new Exchange(this.#parts);
  }

  /** Learns from the answer, as soon as its fields are there. */
  answered(answer: ProviderAnswer): void {
    // It never rejects.
    void this.#learnt?.answered(answer);
  }

  /** Gives its slots on. Later calls do nothing. */
  ended(): void {
    this.#learnt?.ended();
    this.#end?.();
    this.#learnt = this.#end = undefined;
  }

  #send(send: () => void, learnt: LearntCall | undefined): Promise<void> {
    return new Promise((resolve) => {
      this.#learnt = learnt;
      this.#end = resolve;
      send();
    });
  }
}

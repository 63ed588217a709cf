import type { Decision, SpendEntry } from '@sluice/core';
import type { ScheduleOptions, Scheduler } from '@sluice/core/scheduler';
import type { Learning } from './learning/learning.ts';
import type { ProviderAnswer, LearntCall } from './learning/learnt-call.ts';

/** What {@link Exchange}s have in common. */
interface ExchangeParts {
  readonly scheduler: Scheduler;
  /** Undefined if nothing is to be learnt. */
  readonly learning: Learning | undefined;
  readonly entries: readonly SpendEntry[];
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
    const { scheduler, learning, entries } = this.#parts;
    const work = (decision: Decision): Promise<void> => {
      const learnt = learning?.begin(entries, options.signal);
      if (!(learnt instanceof Promise)) return this.#send(send, learnt);
      return learnt.then(
        (call: LearntCall) => this.#send(send, call),
        (reason: unknown) => this.#leave(decision, reason),
      );
    };
    return scheduler.run(entries, work, options);
  }

  /** Returns an exchange that takes the same. */
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

  /** Gives back what was taken for a request that was aborted while it was held back. */
  async #leave(decision: Decision, reason: unknown): Promise<never> {
    // It fails only when the limiter is closed.
    await this.#parts.scheduler.limiter.refund(decision).catch(() => undefined);
    throw reason;
  }

  #send(send: () => void, learnt: LearntCall | undefined): Promise<void> {
    return new Promise((resolve) => {
      this.#learnt = learnt;
      this.#end = resolve;
      send();
    });
  }
}

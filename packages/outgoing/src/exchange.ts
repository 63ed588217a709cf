import type { SpendEntry } from '@sluice/core';
import type { ScheduleOptions, Scheduler } from '@sluice/core/scheduler';

/**
 * One request to an API and its answer: what it has taken, it holds from its beginning until its answer has ended. All doors
 * are made of it.
 */
export class Exchange {
  readonly #scheduler: Scheduler;
  readonly #entries: readonly SpendEntry[];
  #end: (() => void) | undefined;

  constructor(scheduler: Scheduler, entries: readonly SpendEntry[]) {
    this.#scheduler = scheduler;
    this.#entries = entries;
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
    const work = (): Promise<void> =>
      new Promise((resolve) => {
        this.#end = resolve;
        send();
      });
    return this.#scheduler.run(this.#entries, work, options);
  }

  /** Gives its slots on. Later calls do nothing. */
  ended(): void {
    this.#end?.();
    this.#end = undefined;
  }
}

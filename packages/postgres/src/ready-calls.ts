import type { SluiceError, Time } from '@sluice/core';
import type { Alarm } from '@sluice/core/store';

/** While `ready` waits, PostgreSQL is asked again after so many milliseconds. */
const RETRY_MS = 100;

/** How a call of `ready` ends. */
export interface ReadyCall {
  readonly resolve: () => void;
  readonly reject: (error: SluiceError) => void;
}

/** The calls of `ready` that wait, and the time until PostgreSQL is asked again for them. */
export class ReadyCalls {
  readonly #time: Time;
  readonly #onRetry: () => void;
  readonly #calls = new Set<ReadyCall>();
  #retry: Alarm | undefined;

  constructor(time: Time, onRetry: () => void) {
    this.#time = time;
    this.#onRetry = onRetry;
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  add(call: ReadyCall): void {
    this.#calls.add(call);
  }

  /** Removes a call that does not wait any more. */
  delete(call: ReadyCall): void {
    this.#calls.delete(call);
    if (this.isEmpty) this.#endRetry();
  }

  resolveAll(): void {
    for (const { resolve } of this.#takeAll()) resolve();
  }

  rejectAll(error: SluiceError): void {
    for (const { reject } of this.#takeAll()) reject(error);
  }

  /** Asks PostgreSQL again later, if a call waits. */
  retryLater(): void {
    if (this.isEmpty) return;
    this.#retry ??= this.#time.alarm(RETRY_MS, () => {
      this.#retry = undefined;
      this.#onRetry();
    });
  }

  #takeAll(): readonly ReadyCall[] {
    const all = [...this.#calls];
    this.#calls.clear();
    this.#endRetry();
    return all;
  }

  #endRetry(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
  }
}

import type { Awaitable } from '../async/awaitable.ts';
import { AnswerWaits } from '../time/answer-waits.ts';
import type { Time } from '../time/time.ts';

/** How long closing a limiter waits for work in progress, in milliseconds. */
const GRACE_MS = 1000;

/**
 * Tracks work that continues after a request was answered: charges, refunds and settlements. A limiter that is closed
 * waits for it.
 */
export class PendingWork {
  readonly #waits: AnswerWaits;
  #count = 0;
  #idle: Promise<void> | undefined;
  #becomeIdle: (() => void) | undefined;

  /** @param time - The timer for the longest wait. */
  constructor(time: Time) {
    this.#waits = new AnswerWaits(GRACE_MS, time);
  }

  /** Registers work in progress. Returns it unchanged. */
  track<T>(work: Awaitable<T>): Awaitable<T> {
    if (work instanceof Promise) {
      this.#count++;
      const end = (): void => this.#end();
      work.then(end, end);
    }
    return work;
  }

  /** Waits until all work has settled, at most one second. Returns synchronously when there is no work. */
  ended(): Awaitable<void> {
    if (this.#count === 0) return undefined;
    this.#idle ??= new Promise((resolve) => (this.#becomeIdle = resolve));
    return this.#waits.race(this.#idle, () => undefined).catch(() => undefined);
  }

  #end(): void {
    this.#count--;
    if (this.#count > 0) return;
    this.#becomeIdle?.();
    this.#idle = this.#becomeIdle = undefined;
  }
}

import type { Awaitable } from '../async/awaitable.ts';
import { Deadlines } from '../time/deadlines.ts';
import { systemScheduler, type Scheduler } from '../time/scheduler.ts';

/** How long the end of a limiter waits for work that has begun, in milliseconds. */
const GRACE_MS = 1000;

/** What goes on after a request was answered: charges, refunds and settlements. A limiter that closes lets it finish. */
export class PendingWork {
  readonly #deadlines: Deadlines;
  #count = 0;
  #idle: Promise<void> | undefined;
  #becomeIdle: (() => void) | undefined;

  /** @param scheduler - The time of the grace. Default: the process's. */
  constructor(scheduler: Scheduler = systemScheduler) {
    this.#deadlines = new Deadlines(GRACE_MS, scheduler);
  }

  /** Notes work that has begun. Gives it back as it is. */
  track<T>(work: Awaitable<T>): Awaitable<T> {
    if (work instanceof Promise) {
      this.#count++;
      const end = (): void => this.#end();
      work.then(end, end);
    }
    return work;
  }

  /** Waits until all work has ended, well or not, at most a second; not at all when there is none. */
  ended(): Awaitable<void> {
    if (this.#count === 0) return undefined;
    this.#idle ??= new Promise((resolve) => (this.#becomeIdle = resolve));
    return this.#deadlines.race(this.#idle, () => undefined).catch(() => undefined);
  }

  #end(): void {
    this.#count--;
    if (this.#count > 0) return;
    this.#becomeIdle?.();
    this.#idle = this.#becomeIdle = undefined;
  }
}

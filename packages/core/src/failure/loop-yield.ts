import type { Scheduler } from '../time/scheduler.ts';

/**
 * How long answers may follow each other before we look whether the event loop runs, and how long from then on until an
 * answer waits for it. Together well below any sensible deadline, since a loop that is held up makes answers late.
 */
const STEP_MS = 5;

/**
 * Makes answers that need no I/O wait for the event loop now and then.
 *
 * A caller that awaits one such answer after the other stays in the microtask queue: no socket is read and no timer
 * runs, so a connection to the store that is about to be made never is. Where the loop runs by itself, as in a server,
 * nothing waits.
 */
export class LoopYield {
  readonly #scheduler: Scheduler;
  #sinceMs: number | undefined;
  #awaitsLoop = false;
  #next: Promise<void> | undefined;
  #resume = (): void => {};

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Gives a promise that the answer must wait for, or undefined when it may be given at once. */
  due(): Promise<void> | undefined {
    // Answers keep their order: while one waits, those behind it do.
    if (this.#next !== undefined) return this.#next;
    const nowMs = this.#scheduler.nowMs();
    this.#sinceMs ??= nowMs;
    if (nowMs - this.#sinceMs < STEP_MS) return undefined;
    if (this.#awaitsLoop) return (this.#next = new Promise((resolve) => (this.#resume = resolve)));
    this.#awaitsLoop = true;
    this.#sinceMs = nowMs;
    this.#scheduler.afterInput(() => this.#ran());
    return undefined;
  }

  #ran(): void {
    this.#awaitsLoop = false;
    this.#sinceMs = undefined;
    this.#next = undefined;
    this.#resume();
  }
}

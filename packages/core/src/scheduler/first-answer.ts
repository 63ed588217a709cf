import type { LimiterCore } from '../limiter/limiter-core.ts';

/** How long the first calls wait, before failure policies let them begin. */
const LONGEST_MS = 1000;

/**
 * Lets the first calls wait for a store that has not answered yet: a program begins with its calls, before its store is
 * connected. By the policy `local` each process would begin as many as all may together.
 */
export class FirstAnswer {
  /** Whether the store has answered, or had the time for it. */
  isOver: boolean;
  readonly #limiter: LimiterCore<never>;
  readonly #then: () => void;
  #isAsked = false;

  constructor(limiter: LimiterCore<never>, then: () => void) {
    this.isOver = limiter.store.ready === undefined;
    this.#limiter = limiter;
    this.#then = then;
  }

  /** Asks the store, once. */
  ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    const end = (): void => {
      this.isOver = true;
      this.#then();
    };
    this.#limiter.ready({ timeoutMs: LONGEST_MS }).then(end, end);
  }
}

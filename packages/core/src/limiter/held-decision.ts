import type { Awaitable } from '../async/awaitable.ts';
import { Decision } from '../decision/decision.ts';

/**
 * The decision of `Limiter.hold`. If it is allowed, it holds slots of its concurrency limits until they are released.
 *
 *     await using held = await limiter.hold([{ limit: 'InFlight', id: 'backend' }]);
 *     if (held.allowed) await work();
 */
export class HeldDecision extends Decision implements AsyncDisposable {
  readonly #release: () => Awaitable<void>;

  /** @param release - Releases the slots of the decision. It never throws or rejects. */
  constructor(decision: Decision, release: () => Awaitable<void>) {
    super(Decision.answerOf(decision), decision.outcome, decision, decision.results, decision.delayMs);
    this.#release = release;
  }

  /**
   * Releases the slots. Does nothing when they are released already, or when the decision holds none.
   *
   * @returns A promise that resolves when the store has released them. It never rejects: when the store can't answer, the
   * slots are free when they expire.
   */
  release(): Promise<void> {
    return Promise.resolve(this.#release());
  }

  /** Releases the slots at the end of the block of an `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

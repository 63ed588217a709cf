import type { Awaitable } from '../../async/awaitable.ts';
import type { Holding } from '../../decision/decided.ts';
import type { AbandonedSlots } from './abandoned-slots.ts';
import type { Held, HeldSlots } from './held-slots.ts';

interface DecisionSlotsParts {
  readonly held: HeldSlots;
  readonly abandoned: AbandonedSlots;
}

/** The slots of one decision. */
export class DecisionSlots implements Holding {
  readonly #all: readonly Held[];
  readonly #parts: DecisionSlotsParts;

  constructor(all: readonly Held[], parts: DecisionSlotsParts) {
    this.#all = all;
    this.#parts = parts;
  }

  release(): Awaitable<void> {
    this.#parts.abandoned.unwatch(this.#all);
    return this.#parts.held.release(this.#all);
  }

  /** See {@link HeldSlots.leaveToExpire}. */
  leaveToExpire(): void {
    this.#parts.abandoned.unwatch(this.#all);
    this.#parts.held.leaveToExpire(this.#all);
  }
}

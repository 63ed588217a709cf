import type { Decided } from '../../decision/decided.ts';
import type { EventSink } from '../../events/event.ts';
import type { Held, HeldSlots } from './held-slots.ts';

/**
 * Finds decisions whose slots nobody can release any more, because the program has dropped the decision. Their leases are
 * not renewed any longer, and each limit is reported once.
 */
export class AbandonedSlots {
  /** Undefined in a Worker with a compatibility date before May 2025, which has no such class. */
  readonly #registry: FinalizationRegistry<readonly Held[]> | undefined;
  readonly #emit: EventSink;
  readonly #reported = new Set<string>();

  constructor(held: HeldSlots, emit: EventSink) {
    this.#emit = emit;
    if (typeof FinalizationRegistry !== 'function') return;
    this.#registry = new FinalizationRegistry((all) => {
      for (const { limit } of held.abandon(all)) this.#report(limit);
    });
  }

  watch(decision: Decided, all: readonly Held[]): void {
    this.#registry?.register(decision, all, all);
  }

  unwatch(all: readonly Held[]): void {
    this.#registry?.unregister(all);
  }

  #report(limit: string): void {
    if (this.#reported.has(limit)) return;
    this.#reported.add(limit);
    const message =
      `Slots of limit "${limit}" were held and never released: the decision was dropped. They are free when they expire. ` +
      'Call release() in a `finally` block, or write `await using decision = await limiter.spend(…)`.';
    this.#emit({ type: 'warning', message, once: true });
  }
}

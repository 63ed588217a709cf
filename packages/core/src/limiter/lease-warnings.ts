import type { EventSink } from '../events/event.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import { leaseOf } from '../kinds/rate/overshoot.ts';
import type { Store } from '../store/store.ts';

/** Warns of limits with an `overshoot` that their store decides exactly all the same. */
export class LeaseWarnings {
  readonly #store: Store;
  readonly #emit: EventSink;
  readonly #warned = new Set<string>();

  constructor(store: Store, emit: EventSink) {
    this.#store = store;
    this.#emit = emit;
  }

  /** Call it when limits take effect. */
  changed({ limits }: LimitSet<never>): void {
    for (const limit of limits.values()) {
      const lease = limit.disabled ? undefined : leaseOf(this.#store, limit);
      if (lease === undefined || lease.leased) continue;
      const message =
        `Limit "${limit.name}" is decided exactly, by a call of the store for each request, because ${lease.reason}. ` +
        'Change its numbers or its overshoot, or remove the overshoot.';
      if (this.#warned.has(message)) continue;
      this.#warned.add(message);
      this.#emit({ type: 'warning', message, once: true });
    }
  }
}

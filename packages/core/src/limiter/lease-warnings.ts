import type { EventSink } from '../events/event.ts';
import type { LimitSet } from '../definitions/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import type { LeaseDescription } from '../store/lease-description.ts';
import type { Store } from '../store/store.ts';

/**
 * Returns how a store decides a limit with an `overshoot`; `undefined` for a limit without one, and for a store without
 * leases.
 */
export function leaseOf(store: Store, { rate, treatment }: Limit<never>): LeaseDescription | undefined {
  const { overshoot, onFailure } = treatment;
  if (overshoot === undefined) return undefined;
  return store.describeLease?.({ overshoot, onFailure, burst: rate.burst, intervalTicks: rate.emissionIntervalTicks });
}

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
        `Change its numbers or its overshoot of ${limit.treatment.overshoot}, or remove the overshoot.`;
      if (this.#warned.has(message)) continue;
      this.#warned.add(message);
      this.#emit({ type: 'warning', message, once: true });
    }
  }
}

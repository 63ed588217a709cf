import type { EventSink } from '../events/event.ts';
import type { LimitSet } from '../limits/limit-set.ts';
import type { Limit } from '../limits/limit.ts';
import type { LeaseDescription } from '../store/lease-terms.ts';
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

/** The limit of a middleware, and the cost of its requests: a number, or a function of them. */
interface Use {
  readonly limit: string;
  readonly cost: unknown;
}

/** Warns of limits with an `overshoot` that their store decides exactly all the same, and of costs that it rather denies. */
export class LeaseWarnings {
  readonly #store: Store;
  readonly #emit: EventSink;
  readonly #warned = new Set<string>();
  /** The highest fixed cost of each limit that a middleware uses. */
  readonly #costs = new Map<string, number>();

  constructor(store: Store, emit: EventSink) {
    this.#store = store;
    this.#emit = emit;
  }

  /** To be called when limits take effect. */
  changed({ limits }: LimitSet<never>): void {
    for (const limit of limits.values()) {
      const lease = limit.disabled ? undefined : leaseOf(this.#store, limit);
      const message = lease && this.#messageOf(limit, lease);
      if (message === undefined || this.#warned.has(message)) continue;
      this.#warned.add(message);
      this.#emit({ type: 'warning', message, once: true });
    }
  }

  /** To be called for the limits that a middleware uses. */
  used(set: LimitSet<never>, uses: readonly Use[]): void {
    for (const { limit, cost } of uses) {
      if (typeof cost === 'number') this.#costs.set(limit, Math.max(cost, this.#costs.get(limit) ?? 0));
    }
    this.changed(set);
  }

  #messageOf({ name, treatment }: Limit<never>, lease: LeaseDescription): string | undefined {
    if (!lease.leased) {
      return (
        `Limit "${name}" is decided exactly, by a call of the store for each request, because ${lease.reason}. ` +
        `Raise its overshoot of ${treatment.overshoot}, or remove it.`
      );
    }
    const cost = this.#costs.get(name) ?? 0;
    if (lease.mode === 'wait' || cost <= lease.overdraft) return undefined;
    return (
      `Limit "${name}" denies many requests of cost ${cost} that would fit: without waiting for the store, a process decides ` +
      `costs up to its overdraft of ${lease.overdraft}. Use the mode 'wait' of the store, or raise or remove the overshoot ` +
      `of ${treatment.overshoot}.`
    );
  }
}

import { andThen, attempt, type Awaitable } from '../async/awaitable.ts';
import type { SlotTerms } from '../limits/concurrency.ts';
import { mapKeyOf } from '../store/bucket-key.ts';
import type { BucketName, StoreHold } from '../store/store.ts';
import type { Time } from '../time/time.ts';
import { Renewals } from './renewals.ts';

/** Slots that one decision holds in one bucket. */
export interface Held extends StoreHold {
  readonly terms: SlotTerms;
  /** The level up to which the transaction that took them fits: the whole limit, or its share of it. */
  readonly fitTicks: number;
}

/** The slots of one bucket. */
interface HeldInBucket {
  /** How many slots are held, those of pending decisions included. */
  count: number;
  /** Those of decisions that the store has not answered yet, in the order of their calls. */
  readonly pending: Set<Held>;
}

interface HeldSlotsParts {
  readonly time: Time;
  /** Renews leases in the store. It never throws or rejects. */
  readonly renew: (holds: readonly StoreHold[]) => void;
  /** Releases slots in the store. */
  readonly release: (holds: readonly StoreHold[]) => Awaitable<void>;
}

/**
 * All slots that the decisions of a limiter hold. It renews the leases of those that are in a store, and counts those of
 * each bucket: for limits of this process alone, and for all while the store can't answer.
 */
export class HeldSlots {
  readonly #renewals: Renewals<Held>;
  readonly #release: HeldSlotsParts['release'];
  readonly #buckets = new Map<string, HeldInBucket>();
  /** Those that are neither pending nor released. */
  readonly #held = new Set<Held>();

  constructor({ time, renew, release }: HeldSlotsParts) {
    this.#renewals = new Renewals<Held>(time, renew);
    this.#release = release;
  }

  /** How many slots are held, those of pending decisions included. */
  countOf(bucket: BucketName): number {
    return this.#buckets.get(mapKeyOf(bucket))?.count ?? 0;
  }

  /**
   * Returns the level of a bucket as this process knows it: the slots that are held, without those of pending decisions
   * that were asked for later than a given one.
   *
   * @param holder - That of the pending decision. Undefined: a decision that takes nothing.
   */
  levelFor(bucket: BucketName, holder: string | undefined): number {
    const found = this.#buckets.get(mapKeyOf(bucket));
    if (found === undefined) return 0;
    let level = found.count;
    let isLater = false;
    for (const held of found.pending) {
      isLater ||= held.holder === holder;
      if (isLater) level -= held.count;
    }
    return level;
  }

  /** Counts slots that a decision is about to take. */
  reserve(held: Held): void {
    const key = mapKeyOf(held);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) this.#buckets.set(key, (bucket = { count: 0, pending: new Set() }));
    bucket.count += held.count;
    bucket.pending.add(held);
  }

  /** Ends a reservation: the decision has not taken the slots. */
  cancel(held: Held): void {
    this.#remove(held);
  }

  /** Keeps slots that a decision has taken, and renews their leases until they are released or abandoned. */
  keep(held: Held): void {
    this.#buckets.get(mapKeyOf(held))!.pending.delete(held);
    this.#held.add(held);
    if (held.terms.scope === 'store') this.#renewals.add(held);
  }

  /**
   * Releases slots. Those that were released already are left out.
   *
   * @returns A promise that resolves when the store has released them, if it is asked. It never rejects: when the limiter is
   * closed, the slots are free when their leases end.
   */
  release(all: readonly Held[]): Awaitable<void> {
    const inStore = all.filter((held) => this.#held.delete(held) && this.#forget(held));
    if (inStore.length > 0)
      return andThen(
        attempt(() => this.#release(inStore)),
        ignore,
      );
  }

  /** Stops to renew slots that nobody can release any more. The store frees them when their lease ends. */
  abandon(all: readonly Held[]): void {
    for (const held of all) if (this.#held.delete(held)) this.#forget(held);
  }

  /** Releases all slots. */
  close(): void {
    void this.release([...this.#held]);
    this.#renewals.close();
  }

  /** @returns Whether the slots are in a store. */
  #forget(held: Held): boolean {
    this.#remove(held);
    return this.#renewals.remove(held);
  }

  #remove(held: Held): void {
    const key = mapKeyOf(held);
    const bucket = this.#buckets.get(key)!;
    bucket.count -= held.count;
    bucket.pending.delete(held);
    if (bucket.count === 0) this.#buckets.delete(key);
  }
}

function ignore(): void {}

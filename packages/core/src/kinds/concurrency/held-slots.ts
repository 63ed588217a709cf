import { callAndForget, type Awaitable } from '../../async/awaitable.ts';
import { mapKeyOf } from '../../store/bucket-key.ts';
import type { BucketName, StoreHold } from '../../store/store.ts';
import type { Time } from '../../time/time.ts';
import { Heartbeats } from './heartbeats.ts';
import { Renewals } from './renewals.ts';
import type { SlotTerms } from './slot-terms.ts';

/** Slots that one decision holds in one bucket. */
export interface Held extends StoreHold {
  /** Of its bucket. */
  readonly key: string;
  readonly terms: SlotTerms;
}

/** The slots of one bucket that limiters of this process hold. */
interface HeldInBucket {
  /** How many slots are held, those of pending decisions included. */
  count: number;
  /** The slots of decisions that the store has not answered yet, in the order of their calls. */
  readonly pending: Set<Held>;
}

type HeldBuckets = Map<string, HeldInBucket>;

const bucketsOf = new WeakMap<object, HeldBuckets>();

/** Returns the slots that all limiters on a store hold in each bucket: equal limits of two limiters have the same buckets. */
export function heldBucketsOf(store: object): HeldBuckets {
  const buckets = bucketsOf.get(store) ?? new Map<string, HeldInBucket>();
  bucketsOf.set(store, buckets);
  return buckets;
}

interface HeldSlotsParts {
  /** The buckets of {@link heldBucketsOf}. */
  readonly buckets: HeldBuckets;
  readonly time: Time;
  /** Renews slots in the store. */
  readonly renew: (holds: readonly StoreHold[]) => Awaitable<unknown>;
  /** Releases slots in the store. */
  readonly release: (holds: readonly StoreHold[]) => Awaitable<unknown>;
}

/**
 * All slots that the decisions of a limiter hold. It renews those that are in a store, and counts those of
 * each bucket: for limits of this process alone, and for all while the store can't answer.
 */
export class HeldSlots {
  readonly #parts: HeldSlotsParts;
  readonly #renewals: Renewals<Held>;
  /** In place of the renewals, where timers end with the request that set them. Also of pending and of own slots. */
  readonly #heartbeats: Heartbeats<Held> | undefined;
  readonly #buckets: HeldBuckets;
  /** Those that are neither pending nor released. */
  readonly #held = new Set<Held>();
  #isClosed = false;

  constructor(parts: HeldSlotsParts) {
    this.#parts = parts;
    this.#buckets = parts.buckets;
    this.#renewals = new Renewals<Held>(parts.time, (due) => this.#renew(due));
    if (parts.time.timersEndWithRequest === true)
      this.#heartbeats = new Heartbeats<Held>(parts.time, (held) => this.#renewOwn(held));
  }

  /** How many slots of each limit this process holds, without those of pending decisions. */
  countsByLimit(): ReadonlyMap<string, number> {
    this.#endExpired();
    const counts = new Map<string, number>();
    for (const { limit, count } of this.#held) counts.set(limit, (counts.get(limit) ?? 0) + count);
    return counts;
  }

  /** How many slots are held, those of pending decisions included. */
  countOf(bucket: BucketName): number {
    this.#endExpired();
    return this.#buckets.get(mapKeyOf(bucket))?.count ?? 0;
  }

  /**
   * Returns the level of a bucket as this process knows it: the slots that are held, without those of the pending decision
   * itself and of later ones.
   *
   * @param holder - The holder of the pending decision. Undefined: a decision that takes nothing.
   */
  levelFor(bucket: BucketName, holder: string | undefined): number {
    this.#endExpired();
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
  claim(held: Held): void {
    if (this.#heartbeats !== undefined) {
      this.#endExpired();
      this.#heartbeats.add(held);
    }
    let bucket = this.#buckets.get(held.key);
    if (bucket === undefined) this.#buckets.set(held.key, (bucket = { count: 0, pending: new Set() }));
    bucket.count += held.count;
    bucket.pending.add(held);
  }

  /** Ends a reservation: the decision has not taken the slots. */
  cancel(held: Held): void {
    this.#uncount(held);
  }

  /**
   * Keeps slots that a decision has taken, and renews their leases until they are released or abandoned. After `close` it
   * releases them at once.
   */
  keep(held: Held): void {
    // A request that was stalled for longer than the expiry goes on.
    if (this.#heartbeats?.has(held) === false) this.claim(held);
    this.#buckets.get(held.key)!.pending.delete(held);
    this.#held.add(held);
    if (this.#heartbeats === undefined && held.terms.scope === 'store') this.#renewals.add(held);
    if (this.#isClosed) void this.release([held]);
  }

  /**
   * Releases slots. Those that are not held any more are left out.
   *
   * @returns A promise that resolves when the store has released them, if it is asked. It never rejects: when the store
   * can't answer, the slots are free when they expire.
   */
  release(all: readonly Held[]): Awaitable<void> {
    const inStore: Held[] = [];
    for (const held of this.#end(all)) if (held.terms.scope === 'store') inStore.push(held);
    if (inStore.length === 0) return undefined;
    try {
      const released = this.#parts.release(inStore);
      return released instanceof Promise ? released.then(ignore, ignore) : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Stops to count and renew slots that nobody can release any more. The store frees them when they expire.
   *
   * @returns The ones that were held.
   */
  abandon(all: readonly Held[]): readonly Held[] {
    return this.#end(all);
  }

  /**
   * Leaves slots to expire, because it is unknown for how long they are in use. The store does not count them after
   * that, and neither does this process those of its own.
   */
  leaveToExpire(all: readonly Held[]): void {
    this.abandon(all.filter(({ terms }) => terms.scope === 'store'));
    const ofProcess = all.filter(({ terms }) => terms.scope === 'process');
    for (const held of ofProcess) {
      if (this.#heartbeats === undefined)
        this.#parts.time.alarm(held.expiryMs, () => void this.release([held])).unref();
      else this.#heartbeats.stop(held);
    }
  }

  /** Forgets the slots of a bucket that was reset. Slots of pending decisions are taken after that. */
  forget(bucket: BucketName): void {
    const key = mapKeyOf(bucket);
    this.#end([...this.#held].filter((held) => held.key === key));
  }

  /** Releases all slots. */
  close(): void {
    this.#isClosed = true;
    void this.release([...this.#held]);
  }

  /** Returns those that were held until now. */
  #end(all: readonly Held[]): readonly Held[] {
    const ended: Held[] = [];
    for (const held of all) {
      if (!this.#held.delete(held)) continue;
      ended.push(held);
      this.#uncount(held);
      this.#renewals.remove(held);
    }
    return ended;
  }

  /** Ends the slots of requests that have ended without releasing them. */
  #endExpired(): void {
    if (this.#heartbeats === undefined) return;
    for (const held of this.#heartbeats.takeExpired()) {
      this.#held.delete(held);
      this.#subtract(held);
    }
  }

  #uncount(held: Held): void {
    // Those that have expired are not counted any more.
    if (this.#heartbeats?.has(held) === false) return;
    this.#heartbeats?.remove(held);
    this.#subtract(held);
  }

  #subtract(held: Held): void {
    const bucket = this.#buckets.get(held.key)!;
    bucket.count -= held.count;
    bucket.pending.delete(held);
    if (bucket.count === 0) this.#buckets.delete(held.key);
  }

  #renewOwn(held: Held): void {
    if (held.terms.scope === 'store' && this.#held.has(held)) this.#renew([held]);
  }

  #renew(due: readonly Held[]): void {
    // It fails only when the limiter or the store is closed. The slots then expire.
    callAndForget(() => this.#parts.renew(due), ignore);
  }
}

function ignore(): void {}

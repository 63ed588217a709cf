import { TICKS_PER_MS } from '../../rule/ticks.ts';
import { mapKeyOf } from '../bucket-key.ts';
import type { HandedBucket, SlotsOfHolder, SlotTable } from '../provided.ts';
import type { BucketName, SlotHolding } from '../store.ts';
import { SlotBucket } from './slot-bucket.ts';

/** How many buckets are swept for each one that is created: more are dropped than can be forgotten. */
const SWEPT_PER_NEW_BUCKET = 2;

/**
 * The buckets of slots of a memory store. A bucket exists only while slots of it are held, so their number is bounded by
 * what is in use, and none is ever evicted.
 */
export class SlotBuckets implements SlotTable {
  readonly #buckets = new Map<string, SlotBucket>();
  /**
   * The position of the sweep; undefined while there is no bucket. V8 keeps each table that a map has outgrown or emptied for
   * as long as an iterator has not moved on from it.
   */
  #next: Iterator<SlotBucket> | undefined;

  heldByLimit(): Record<string, number> {
    const held = new Map<string, number>();
    for (const bucket of this.#buckets.values()) held.set(bucket.limit, bucket.held + (held.get(bucket.limit) ?? 0));
    return Object.fromEntries(held);
  }

  *handed(now: number): Generator<HandedBucket> {
    for (const bucket of this.#buckets.values()) {
      const slots = bucket.handed(now);
      if (slots.length > 0) yield { limit: bucket.limit, key: bucket.key, slots };
    }
  }

  takeOver({ limit, key, slots }: HandedBucket, passedTicks: number, now: number): void {
    for (const each of slots) {
      const leftTicks = each.leftTicks - passedTicks;
      if (leftTicks <= 0) continue;
      const bucket = this.#buckets.get(key) ?? this.#create(key, limit, now);
      bucket.takeOver({ ...each, leftTicks }, now);
    }
  }

  level(name: BucketName, now: number): number {
    return this.#buckets.get(mapKeyOf(name))?.look(now) ?? 0;
  }

  holders(name: BucketName, now: number): readonly string[] {
    return this.#buckets.get(mapKeyOf(name))?.holders(now) ?? [];
  }

  take(name: BucketName, { holder, expiryMs }: SlotHolding, count: number, now: number): void {
    this.#bucketOf(name, now).hold(holder, 1, 1 + count, expiryMs * TICKS_PER_MS, now);
  }

  hold(slots: SlotsOfHolder, now: number): void {
    const { holder, first, count, expiryMs } = slots;
    this.#bucketOf(slots, now).hold(holder, first, first + count, expiryMs * TICKS_PER_MS, now);
  }

  release(slots: SlotsOfHolder): void {
    const bucket = this.#buckets.get(mapKeyOf(slots));
    if (bucket === undefined) return;
    bucket.free(slots.holder, slots.first, slots.first + slots.count);
    this.#dropUnused(bucket);
  }

  reset(name: BucketName): void {
    this.#delete(mapKeyOf(name));
  }

  sweep(count: number, now: number): void {
    for (let left = Math.min(count, this.#buckets.size); left > 0; left--) {
      const bucket = this.#nextBucket();
      bucket.look(now);
      this.#dropUnused(bucket);
    }
  }

  /** Only while there is a bucket. */
  #nextBucket(): SlotBucket {
    const next = this.#next?.next();
    if (next !== undefined && next.done !== true) return next.value;
    this.#next = this.#buckets.values();
    return this.#next.next().value!;
  }

  #bucketOf(name: BucketName, now: number): SlotBucket {
    const key = mapKeyOf(name);
    return this.#buckets.get(key) ?? this.#create(key, name.limit, now);
  }

  #create(key: string, limit: string, now: number): SlotBucket {
    this.sweep(SWEPT_PER_NEW_BUCKET, now);
    const bucket = new SlotBucket(key, limit);
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #dropUnused(bucket: SlotBucket): void {
    if (bucket.held === 0) this.#delete(bucket.key);
  }

  #delete(key: string): void {
    this.#buckets.delete(key);
    if (this.#buckets.size === 0) this.#next = undefined;
  }
}

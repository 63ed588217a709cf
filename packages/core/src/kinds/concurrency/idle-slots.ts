import { mapKeyOf } from '../../store/bucket-key.ts';
import type { BucketName } from '../../store/store.ts';
import type { Alarm, Time } from '../../time/time.ts';
import type { Held, HeldSlots } from './held-slots.ts';

/** Slots that no request has used for so long are released. */
const IDLE_MS = 1000;

interface Idle {
  readonly held: Held;
  readonly sinceMicros: number;
}

/** Idle slots that a request can use. */
export interface FoundSlots {
  /** A level of their bucket at which the request fits: the last one that the store has reported, or a lower one. */
  readonly level: number;
  readonly slots: readonly Held[];
}

/** The idle slots of one bucket. */
interface IdleInBucket {
  /** The one that was used last at the end. Each is a single slot. */
  readonly slots: Idle[];
  /** The level of the bucket when the store reported it last. */
  level: number;
}

/**
 * The slots of limits with a `reserve` that this process has taken and no request uses: the next request takes one of them
 * without asking the store, until the slot would expire without a renewal.
 *
 * A slot serves the requests whose share reaches up to the level at which it was taken. So requests with a small share
 * never use more slots than their share: whenever one of these slots was taken, no more than the share was held.
 */
export class IdleSlots {
  readonly #held: HeldSlots;
  readonly #time: Time;
  readonly #buckets = new Map<string, IdleInBucket>();
  #alarm: Alarm | undefined;

  constructor(held: HeldSlots, time: Time) {
    this.#held = held;
    this.#time = time;
  }

  /** Finds as many idle slots as a cost. Undefined if there are not enough. */
  find(bucket: BucketName, cost: number, fitTicks: number): FoundSlots | undefined {
    // Most limits have no reserve.
    if (this.#buckets.size === 0 || cost === 0) return undefined;
    const found = this.#buckets.get(mapKeyOf(bucket));
    if (found === undefined) return undefined;
    const usable = this.#usable(found, fitTicks);
    if (usable.length < cost) return undefined;
    return { level: Math.min(found.level, fitTicks - cost), slots: usable.slice(-cost).map(({ held }) => held) };
  }

  /** Takes slots that were just found, for a request: those, and not what can be found at a later reading of the clock. */
  take(bucket: BucketName, taken: readonly Held[]): void {
    const { slots } = this.#buckets.get(mapKeyOf(bucket))!;
    for (const held of taken)
      slots.splice(
        slots.findIndex((idle) => idle.held === held),
        1,
      );
  }

  /**
   * Adds slots that are not in use.
   *
   * @param level - The level of their bucket, if the store has just reported it.
   * @returns Slots to release: those of limits without a reserve, those that can't be used again, and above the `reserve` of
   * a limit the ones that are idle for the longest time.
   */
  add(all: readonly Held[], level?: number): readonly Held[] {
    return all.flatMap((held) => {
      if (held.terms.reserve === 1 || !this.#held.areReusable(held)) return [held];
      const bucket = this.#bucketOf(held);
      if (level !== undefined) bucket.level = level;
      bucket.slots.push({ held, sinceMicros: this.#time.nowMicros() });
      this.#alarm ??= this.#nextLook();
      return bucket.slots.length > held.terms.reserve ? [bucket.slots.shift()!.held] : [];
    });
  }

  /** Forgets all idle slots. */
  close(): void {
    this.#alarm?.cancel();
    this.#buckets.clear();
  }

  #bucketOf(bucket: BucketName): IdleInBucket {
    const key = mapKeyOf(bucket);
    let found = this.#buckets.get(key);
    if (found === undefined) this.#buckets.set(key, (found = { slots: [], level: 0 }));
    return found;
  }

  #nextLook(): Alarm {
    const alarm = this.#time.alarm(IDLE_MS, () => this.#look());
    alarm.unref();
    return alarm;
  }

  #look(): void {
    const latestMicros = this.#time.nowMicros() - IDLE_MS * 1000;
    const old: Held[] = [];
    for (const [key, { slots }] of this.#buckets) {
      const inUse = slots.findIndex(({ sinceMicros }) => sinceMicros > latestMicros);
      old.push(...slots.splice(0, inUse === -1 ? slots.length : inUse).map(({ held }) => held));
      if (slots.length === 0) this.#buckets.delete(key);
    }
    this.#alarm = this.#buckets.size === 0 ? undefined : this.#nextLook();
    void this.#held.release(old);
  }

  #usable({ slots }: IdleInBucket, fitTicks: number): readonly Idle[] {
    return slots.filter(({ held }) => held.level! <= fitTicks && this.#held.areReusable(held));
  }
}

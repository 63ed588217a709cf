import { mapKeyOf } from '../store/bucket-key.ts';
import type { BucketName } from '../store/store.ts';
import type { Alarm, Time } from '../time/time.ts';
import type { Held, HeldSlots } from './held-slots.ts';

/** Slots that no request has used for so long are released. */
const IDLE_MS = 1000;

interface Idle {
  readonly held: Held;
  readonly sinceMicros: number;
}

/** The idle slots of one bucket. */
interface IdleInBucket {
  /** The one that was used last at the end. Each is a single slot. */
  readonly slots: Idle[];
  /** The level of the bucket when the store reported it last. */
  level: number;
}

/**
 * The slots of limits with a `block` that this process has taken and no request uses: the next request takes one of them
 * without asking the store. A slot that was taken within a share of the limit serves requests with this or a larger share,
 * so that requests with a small share never use more slots than their share.
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

  /**
   * Returns a level of a bucket at which a cost fits, if there are idle slots for it: the last one that the store has
   * reported, or a lower one. Otherwise undefined.
   */
  levelFor(bucket: BucketName, cost: number, fitTicks: number): number | undefined {
    const found = this.#buckets.get(mapKeyOf(bucket));
    if (found === undefined || cost === 0 || usable(found, fitTicks).length < cost) return undefined;
    return Math.max(0, Math.min(found.level, fitTicks - cost));
  }

  /** Takes idle slots for a request, see {@link levelFor}. */
  take(bucket: BucketName, cost: number, fitTicks: number): readonly Held[] {
    const found = this.#buckets.get(mapKeyOf(bucket))!;
    const taken = usable(found, fitTicks).slice(-cost);
    for (const idle of taken) found.slots.splice(found.slots.indexOf(idle), 1);
    return taken.map(({ held }) => held);
  }

  /**
   * Adds slots of one bucket that are not in use. Above the `block` of the limit, the oldest ones are released.
   *
   * @param level - The level of the bucket, if the store has just reported it.
   */
  add(all: readonly Held[], level?: number): void {
    const [first] = all;
    if (first === undefined) return;
    const key = mapKeyOf(first);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) this.#buckets.set(key, (bucket = { slots: [], level: level ?? 0 }));
    if (level !== undefined) bucket.level = level;
    const sinceMicros = this.#time.nowMicros();
    bucket.slots.push(...all.map((held) => ({ held, sinceMicros })));
    const surplus = bucket.slots.length - first.terms.block;
    if (surplus > 0) this.#release(bucket.slots.splice(0, surplus));
    this.#alarm ??= this.#nextLook();
  }

  /** Forgets all idle slots. */
  close(): void {
    this.#alarm?.cancel();
    this.#buckets.clear();
  }

  #nextLook(): Alarm {
    const alarm = this.#time.alarm(IDLE_MS, () => this.#look());
    alarm.unref();
    return alarm;
  }

  #look(): void {
    const latestMicros = this.#time.nowMicros() - IDLE_MS * 1000;
    const old: Idle[] = [];
    for (const [key, { slots }] of this.#buckets) {
      const inUse = slots.findIndex(({ sinceMicros }) => sinceMicros > latestMicros);
      old.push(...slots.splice(0, inUse === -1 ? slots.length : inUse));
      if (slots.length === 0) this.#buckets.delete(key);
    }
    this.#release(old);
    this.#alarm = this.#buckets.size === 0 ? undefined : this.#nextLook();
  }

  #release(idle: readonly Idle[]): void {
    void this.#held.release(idle.map(({ held }) => held));
  }
}

function usable({ slots }: IdleInBucket, fitTicks: number): readonly Idle[] {
  return slots.filter(({ held }) => held.fitTicks <= fitTicks);
}

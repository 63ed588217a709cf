import type { HandedSlots } from '../provided.ts';

/** Slots of one holder with numbers from `from` to `to` (exclusive), which expire together. */
interface SlotRange {
  readonly from: number;
  readonly to: number;
  /** The slots are free from this time on. */
  readonly end: number;
  readonly expiryTicks: number;
}

/**
 * The slots of one bucket that are held. The level is a counter. Single slots are only looked at when one may have
 * expired, or when the clock has stepped back.
 */
export class SlotBucket {
  readonly key: string;
  readonly limit: string;
  readonly #byHolder = new Map<string, readonly SlotRange[]>();
  #held = 0;
  /** None expires before this time. */
  #soonestEnd = Infinity;
  #lastLook = -Infinity;

  constructor(key: string, limit: string) {
    this.key = key;
    this.limit = limit;
  }

  /** The number of slots that were held at the last look, or have been held since. */
  get held(): number {
    return this.#held;
  }

  /** Frees the slots that have expired, and returns how many are held. */
  look(now: number): number {
    if (now >= this.#soonestEnd || now < this.#lastLook) this.#lookAtAll(now);
    this.#lastLook = now;
    return this.#held;
  }

  /** Returns who holds slots that have not expired. */
  holders(now: number): readonly string[] {
    return [...new Set(this.handed(now).map(({ holder }) => holder))];
  }

  /** Holds slots until they expire, also those that are held already. */
  hold(holder: string, from: number, to: number, expiryTicks: number, now: number): void {
    this.look(now);
    this.free(holder, from, to);
    const added = { from, to, end: now + expiryTicks, expiryTicks };
    this.#set(holder, [...(this.#byHolder.get(holder) ?? []), added]);
    this.#held += to - from;
    this.#soonestEnd = Math.min(this.#soonestEnd, added.end);
  }

  /** Holds slots for the time that they have left. */
  takeOver({ holder, from, to, leftTicks, expiryTicks }: HandedSlots, now: number): void {
    this.hold(holder, from, to, expiryTicks, now);
    const others = this.#byHolder.get(holder)!.slice(0, -1);
    const end = now + leftTicks;
    this.#set(holder, [...others, { from, to, end, expiryTicks }]);
    this.#soonestEnd = Math.min(this.#soonestEnd, end);
  }

  /** Returns the slots that have not expired, for another store. */
  handed(now: number): readonly HandedSlots[] {
    this.look(now);
    return [...this.#byHolder].flatMap(([holder, all]) =>
      all.map(({ from, to, end, expiryTicks }) => ({ holder, from, to, leftTicks: end - now, expiryTicks })),
    );
  }

  /** Frees those of the slots that are held. */
  free(holder: string, from: number, to: number): void {
    const all = this.#byHolder.get(holder);
    if (all === undefined) return;
    const left: SlotRange[] = [];
    for (const slots of all) {
      const below = Math.min(slots.to, from);
      const above = Math.max(slots.from, to);
      if (slots.from < below) left.push({ ...slots, to: below });
      if (above < slots.to) left.push({ ...slots, from: above });
    }
    this.#held += sizeOf(left) - sizeOf(all);
    this.#set(holder, left);
  }

  #lookAtAll(now: number): void {
    this.#soonestEnd = Infinity;
    this.#held = 0;
    for (const [holder, all] of this.#byHolder) {
      const left: SlotRange[] = [];
      for (const slots of all) {
        if (slots.end <= now) continue;
        // It is further ahead only when the clock has stepped back since.
        const end = Math.min(slots.end, now + slots.expiryTicks);
        left.push({ ...slots, end });
        this.#soonestEnd = Math.min(this.#soonestEnd, end);
      }
      this.#held += sizeOf(left);
      this.#set(holder, left);
    }
  }

  #set(holder: string, slots: readonly SlotRange[]): void {
    if (slots.length === 0) this.#byHolder.delete(holder);
    else this.#byHolder.set(holder, slots);
  }
}

function sizeOf(all: readonly SlotRange[]): number {
  let size = 0;
  for (const { from, to } of all) size += to - from;
  return size;
}

/** The fewest slots of a segment: 1 kB, so that a store of few keys is small. */
export const MIN_CAPACITY = 64;
/** A segment that would need more slots than this is split: rebuilding one then takes well under a millisecond. */
export const MAX_CAPACITY = 4096;

const MAX_LOAD = 0.8;
const LOAD_WHEN_BUILT = 0.6;
const MIN_LOAD = 0.3;

/** Two int32 of the hash and one float64. */
export const BYTES_PER_SLOT = 16;

/** The slots for a number of buckets: a power of two, at a load of at most 60 %. */
export function capacityFor(buckets: number): number {
  let capacity = MIN_CAPACITY;
  while (buckets > capacity * LOAD_WHEN_BUILT) capacity *= 2;
  return capacity;
}

/**
 * A part of the table: the buckets whose `high` hash words begin with the same bits, in one ArrayBuffer of 16 bytes a
 * slot, by open addressing with linear probing. A slot holds two int32 hash words and the TAT as a float64.
 *
 * `low` is 0 in an empty slot only, so that a TAT may be any number. Its first bits say where a bucket belongs, so that
 * a rebuild goes through old and new slots from front to back.
 */
export class Segment {
  /** The bits that all its `high` words begin with, followed by zeros. */
  readonly prefix: number;
  /** How many bits of the prefix count, from 0 to 32. */
  readonly depth: number;
  readonly buffer: ArrayBuffer;
  /** How many slots it has. */
  readonly capacity: number;
  /** `low` of slot i is at 4 × i, `high` at 4 × i + 1; what follows is the TAT. */
  readonly #words: Int32Array;
  /** The TAT of slot i is at 2 × i + 1. */
  readonly #tats: Float64Array;
  /** How far `low` is shifted to give the slot where it belongs. */
  readonly #shift: number;
  #size = 0;

  /** @param buffer - Zeros only: 16 bytes for each slot, the slots a power of two. */
  constructor(prefix: number, depth: number, buffer: ArrayBuffer) {
    this.prefix = prefix;
    this.depth = depth;
    this.buffer = buffer;
    this.capacity = buffer.byteLength / BYTES_PER_SLOT;
    this.#words = new Int32Array(buffer);
    this.#tats = new Float64Array(buffer);
    this.#shift = 1 + Math.clz32(this.capacity);
  }

  /** The prefix of the segment that follows in the order of hashes; the last is followed by 0. */
  get nextPrefix(): number {
    return ((this.prefix >>> 0) + 2 ** (32 - this.depth)) | 0;
  }

  /** How many slots are taken, also by buckets whose TAT has passed. */
  get size(): number {
    return this.#size;
  }

  /** Whether it must be rebuilt before one more bucket comes: probing stays short, and an empty slot ends it. */
  get isFull(): boolean {
    return this.#size + 1 > this.capacity * MAX_LOAD;
  }

  /** Whether rebuilding it would give memory back. */
  get isSparse(): boolean {
    return this.capacity > MIN_CAPACITY && this.#size < this.capacity * MIN_LOAD;
  }

  /** The slot of a bucket; when there is none, −1 − the empty slot where it belongs. */
  find(low: number, high: number): number {
    const words = this.#words;
    let slot = this.#home(low);
    for (;;) {
      const found = words[4 * slot]!;
      if (found === low && words[4 * slot + 1] === high) return slot;
      if (found === 0) return -1 - slot;
      slot = this.#after(slot);
    }
  }

  isTaken(slot: number): boolean {
    return this.#words[4 * slot] !== 0;
  }

  /** Whether a slot is taken by a bucket that is full again. */
  hasPassed(slot: number, now: number): boolean {
    return this.isTaken(slot) && this.tat(slot) <= now;
  }

  /** The first of the slots from `from` up to, not including, `end` that a bucket that is full again takes, or `end`. */
  nextPassed(from: number, end: number, now: number): number {
    for (let slot = from; slot < end; slot++) if (this.hasPassed(slot, now)) return slot;
    return end;
  }

  tat(slot: number): number {
    return this.#tats[2 * slot + 1]!;
  }

  setTat(slot: number, tat: number): void {
    this.#tats[2 * slot + 1] = tat;
  }

  /** Puts a bucket into an empty slot that `find` gave. */
  insert(slot: number, low: number, high: number, tat: number): void {
    this.#write(slot, low, high, tat);
    this.#size++;
  }

  /** Empties a slot and moves up those behind it that were pushed there: no tombstones are left. */
  remove(slot: number): void {
    let hole = slot;
    for (let next = this.#after(hole); this.isTaken(next); next = this.#after(next)) {
      const pushedBy = this.#distance(this.#home(this.#words[4 * next]!), next);
      if (pushedBy < this.#distance(hole, next)) continue;
      this.#write(hole, this.#words[4 * next]!, this.#words[4 * next + 1]!, this.tat(next));
      hole = next;
    }
    this.#words[4 * hole] = 0;
    this.#size--;
  }

  /** How many buckets are not full yet, of those whose `high` has all bits of `mask`. */
  countLive(now: number, mask: number): number {
    let live = 0;
    for (let slot = 0; slot < this.capacity; slot++) {
      if (this.#isLive(slot, now) && (this.#words[4 * slot + 1]! & mask) === mask) live++;
    }
    return live;
  }

  /** Copies the buckets that are not full yet, in the order of their slots. */
  copyLive(now: number, segmentOf: (high: number) => Segment): void {
    for (let slot = 0; slot < this.capacity; slot++) {
      if (!this.#isLive(slot, now)) continue;
      const low = this.#words[4 * slot]!;
      const high = this.#words[4 * slot + 1]!;
      const segment = segmentOf(high);
      segment.insert(-1 - segment.find(low, high), low, high, this.tat(slot));
    }
  }

  #isLive(slot: number, now: number): boolean {
    return this.isTaken(slot) && this.tat(slot) > now;
  }

  #write(slot: number, low: number, high: number, tat: number): void {
    this.#words[4 * slot] = low;
    this.#words[4 * slot + 1] = high;
    this.#tats[2 * slot + 1] = tat;
  }

  /** Of the next buckets from a slot on, round the end, the slot of the one with the smallest TAT. There must be one. */
  soonestFull(start: number, buckets: number): number {
    const words = this.#words;
    let left = Math.min(buckets, this.#size);
    let soonest = start;
    let tat = Infinity;
    for (let slot = start; left > 0; slot = this.#after(slot)) {
      if (words[4 * slot] === 0) continue;
      left--;
      if (this.tat(slot) >= tat) continue;
      soonest = slot;
      tat = this.tat(slot);
    }
    return soonest;
  }

  #after(slot: number): number {
    return (slot + 1) & (this.capacity - 1);
  }

  #home(low: number): number {
    return low >>> this.#shift;
  }

  #distance(from: number, to: number): number {
    return (to - from) & (this.capacity - 1);
  }
}

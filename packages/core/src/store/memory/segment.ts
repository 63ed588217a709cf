/** The smallest capacity of a segment, 1 kB, so that a store with few keys is small. */
export const MIN_CAPACITY = 64;
/** The largest capacity of a segment, above which it is split. Rebuilding one takes well under a millisecond. */
export const MAX_CAPACITY = 4096;

const MAX_LOAD = 0.8;
const LOAD_WHEN_BUILT = 0.6;
const MIN_LOAD = 0.3;

/** Two int32 of the hash and one float64. */
export const BYTES_PER_SLOT = 16;

/** Returns the number of slots for a number of buckets: a power of two, at a load of at most 60 %. */
export function capacityFor(buckets: number): number {
  let capacity = MIN_CAPACITY;
  while (buckets > capacity * LOAD_WHEN_BUILT) capacity *= 2;
  return capacity;
}

/**
 * A part of the table: the buckets whose `high` hash words begin with the same bits, in one ArrayBuffer with 16 bytes
 * for each slot (open addressing with linear probing). A slot contains two int32 hash words and the TAT as a float64.
 *
 * `low` is 0 only in an empty slot, so that a TAT may be any number. The first bits of `low` determine the home slot of
 * a bucket. A rebuild therefore goes through the old and the new slots from beginning to end.
 */
export class Segment {
  /** The bits with which all its `high` words begin, followed by zeros. */
  readonly prefix: number;
  /** The length of the prefix in bits, from 0 to 32. */
  readonly depth: number;
  /** The prefix of the next segment in the order of hashes; 0 for the last one. Each step of a sweep reads it. */
  readonly nextPrefix: number;
  readonly buffer: ArrayBuffer;
  /** The number of slots. */
  readonly capacity: number;
  /** `low` of slot i is at 4 × i, `high` at 4 × i + 1, followed by the TAT. */
  readonly #words: Int32Array;
  /** The TAT of slot i is at 2 × i + 1. */
  readonly #tats: Float64Array;
  /** The number of bits by which `low` is shifted to the right to get its home slot. */
  readonly #shift: number;
  #size = 0;

  /** @param buffer - Zeros, 16 bytes for each slot. The number of slots is a power of two. */
  constructor(prefix: number, depth: number, buffer: ArrayBuffer) {
    this.prefix = prefix;
    this.depth = depth;
    this.nextPrefix = ((prefix >>> 0) + 2 ** (32 - depth)) | 0;
    this.buffer = buffer;
    this.capacity = buffer.byteLength / BYTES_PER_SLOT;
    this.#words = new Int32Array(buffer);
    this.#tats = new Float64Array(buffer);
    this.#shift = 1 + Math.clz32(this.capacity);
  }

  /** The number of occupied slots, including those of buckets whose TAT has passed. */
  get size(): number {
    return this.#size;
  }

  /**
   * Whether it must be rebuilt before another bucket is added. Probe sequences stay short and always end at an empty
   * slot.
   */
  get isFull(): boolean {
    return this.#size + 1 > this.capacity * MAX_LOAD;
  }

  /** Whether rebuilding it would release memory. */
  get isSparse(): boolean {
    return this.capacity > MIN_CAPACITY && this.#size < this.capacity * MIN_LOAD;
  }

  /** Returns the slot of a bucket; −1 − slot, with the empty slot for it, when there is none. */
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

  /** Whether a slot contains a bucket that is full. */
  hasPassed(slot: number, now: number): boolean {
    return this.isTaken(slot) && this.tat(slot) <= now;
  }

  /** Returns the first slot from `from` to `end` (exclusive) with a bucket that is full, or `end`. */
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

  /** Adds a bucket at an empty slot that `find` returned. */
  insert(slot: number, low: number, high: number, tat: number): void {
    this.#write(slot, low, high, tat);
    this.#size++;
  }

  /** Empties a slot and moves back the buckets after it that were displaced by it, so that no tombstones are needed. */
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

  /** Returns the number of buckets that are not full, of those whose `high` has all bits of `mask`. */
  countLive(now: number, mask: number): number {
    let live = 0;
    for (let slot = 0; slot < this.capacity; slot++) {
      if (this.#isLive(slot, now) && (this.#words[4 * slot + 1]! & mask) === mask) live++;
    }
    return live;
  }

  /** Copies the buckets that are not full, in the order of their slots. */
  copyLive(now: number, segmentOf: (high: number) => Segment): void {
    this.forEachLive(now, (low, high, tat) => {
      const segment = segmentOf(high);
      segment.insert(-1 - segment.find(low, high), low, high, tat);
    });
  }

  /** Visits the buckets that are not full, in the order of their slots. */
  forEachLive(now: number, visit: (low: number, high: number, tat: number) => void): void {
    for (let slot = 0; slot < this.capacity; slot++) {
      if (this.#isLive(slot, now)) visit(this.#words[4 * slot]!, this.#words[4 * slot + 1]!, this.tat(slot));
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

  /**
   * Returns, of the next `buckets` buckets from a slot, wrapping at the end, the slot with the smallest TAT. The
   * segment must not be empty.
   */
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

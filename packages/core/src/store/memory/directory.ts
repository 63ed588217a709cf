import type { Segment } from './segment.ts';

const BYTES_PER_REFERENCE = 8;

/**
 * Finds the segment of a hash by the first bits of its `high` word (extendible hashing). A segment that was split less
 * often than others occupies several adjacent entries.
 *
 * @see R. Fagin and others: Extendible hashing, ACM TODS 4 (1979).
 */
export class Directory {
  #entries: Segment[];
  /** The number of bits that select an entry. */
  #depth = 0;
  /** The number of segments of each depth. If none has the depth of the directory, half of its entries suffice. */
  readonly #segmentsOfDepth = new Int32Array(33);
  #segmentBytes: number;

  /** @param segment - The initial segment, of depth 0. */
  constructor(segment: Segment) {
    this.#entries = [segment];
    this.#segmentsOfDepth[0] = 1;
    this.#segmentBytes = segment.buffer.byteLength;
  }

  /** The bytes of the segments' slots and of the directory itself. */
  get bytes(): number {
    return this.#segmentBytes + this.#entries.length * BYTES_PER_REFERENCE;
  }

  /** Returns the segment of a `high` word. */
  at(high: number): Segment {
    return this.#entries[this.#indexOf(high)]!;
  }

  /** Replaces segments by others that together have the same prefixes. */
  replace(old: readonly Segment[], fresh: readonly Segment[]): void {
    for (const segment of old) this.#count(segment, -1);
    for (const segment of fresh) this.#count(segment, 1);
    while (fresh[0]!.depth > this.#depth) this.#double();
    for (const segment of fresh) this.#enter(segment);
    while (this.#segmentsOfDepth[this.#depth] === 0) this.#halve();
  }

  #indexOf(high: number): number {
    // Two steps, because JavaScript treats a shift by 32 as a shift by 0.
    return (high >>> 1) >>> (31 - this.#depth);
  }

  #count(segment: Segment, change: 1 | -1): void {
    this.#segmentsOfDepth[segment.depth]! += change;
    this.#segmentBytes += change * segment.buffer.byteLength;
  }

  #enter(segment: Segment): void {
    const start = this.#indexOf(segment.prefix);
    this.#entries.fill(segment, start, start + 2 ** (this.#depth - segment.depth));
  }

  #double(): void {
    this.#entries = this.#entries.flatMap((segment) => [segment, segment]);
    this.#depth++;
  }

  #halve(): void {
    this.#entries = this.#entries.filter((_, index) => index % 2 === 0);
    this.#depth--;
  }
}

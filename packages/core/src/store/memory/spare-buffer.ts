import { BYTES_PER_SLOT, MAX_CAPACITY, type Segment } from './segment.ts';

const LARGEST_BYTES = MAX_CAPACITY * BYTES_PER_SLOT;

/**
 * Keeps the buffer that the last rebuild replaced, if it has the size of nearly all segments, for the next rebuild.
 * Otherwise a growing store would produce as much garbage as it has buckets, and V8 delays the collection of memory
 * outside of its heap. All tables of a store share it.
 */
export class SpareBuffer {
  #buffer: ArrayBuffer | undefined;

  get bytes(): number {
    return this.#buffer?.byteLength ?? 0;
  }

  /** Returns a buffer of zeros for a number of slots. */
  take(slots: number): ArrayBuffer {
    const buffer = this.#buffer;
    if (buffer === undefined || slots !== MAX_CAPACITY) return new ArrayBuffer(slots * BYTES_PER_SLOT);
    this.#buffer = undefined;
    new Float64Array(buffer).fill(0);
    return buffer;
  }

  /**
   * Keeps a buffer of replaced segments, which must no longer be used elsewhere. Releases it when a large segment
   * shrinks.
   */
  keepOneOf(old: readonly Segment[], fresh: readonly Segment[]): void {
    const large = old.find(isLargest);
    if (large === undefined) return;
    if (fresh.some(isLargest)) this.#buffer ??= large.buffer;
    else this.#buffer = undefined;
  }
}

function isLargest(segment: Segment): boolean {
  return segment.buffer.byteLength === LARGEST_BYTES;
}

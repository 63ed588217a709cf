/** The longest text that is remembered, in bytes. */
const MAX_BYTES = 64;

/**
 * Remembers what was made of the bytes of a text, so that neither a string nor a search is needed for a text that was seen
 * shortly before. Each text has one place. It takes the place when it comes for the second time while no other text has
 * asked for the place: texts that come once, such as those of a log in which each line is new, leave nothing behind.
 */
export class BytesCache<Value> {
  readonly #mask: number;
  readonly #texts: Buffer;
  /** For each place, the length of its text + 1; 0 if it is empty. */
  readonly #lengths: Uint8Array;
  readonly #values: (Value | undefined)[];
  /** For each place, the hash of the text that asked for it last and did not have it. */
  readonly #asked: Int32Array;
  /** The place that the last text may take; -1 if it may not. */
  #free = -1;

  /** @param places - A power of two. Each needs about 80 bytes. */
  constructor(places: number) {
    this.#mask = places - 1;
    this.#texts = Buffer.alloc(places * MAX_BYTES);
    this.#lengths = new Uint8Array(places);
    this.#values = Array.from({ length: places }, () => undefined);
    this.#asked = new Int32Array(places);
  }

  /** Returns the value of a text. If it has none, {@link set} may set it. */
  get(bytes: Buffer, start: number, end: number): Value | undefined {
    const length = end - start;
    this.#free = -1;
    if (length > MAX_BYTES) return undefined;
    // FNV-1a, which begins with this number.
    let hash = 0x811c9dc5 ^ length;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    const place = ((hash >>> 15) ^ hash) & this.#mask;
    if (this.#lengths[place] === length + 1 && this.#isAt(place, bytes, start, end)) return this.#values[place];
    if (this.#asked[place] === hash) this.#free = place;
    else this.#asked[place] = hash;
    return undefined;
  }

  /** Sets the value of the text that {@link get} was last called with, if it may take its place. */
  set(bytes: Buffer, start: number, end: number, value: Value): void {
    const place = this.#free;
    if (place === -1) return;
    bytes.copy(this.#texts, place * MAX_BYTES, start, end);
    this.#lengths[place] = end - start + 1;
    this.#values[place] = value;
  }

  #isAt(place: number, bytes: Buffer, start: number, end: number): boolean {
    const from = place * MAX_BYTES - start;
    for (let at = start; at < end; at++) if (this.#texts[from + at] !== bytes[at]) return false;
    return true;
  }
}

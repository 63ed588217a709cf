/** The longest text that is remembered, in bytes. */
const MAX_BYTES = 64;
/** Most logs have few texts, and all places of a large cache take longer to make than a short log to read. */
const FIRST_PLACES = 1024;

/**
 * Remembers what was made of the bytes of a text, so that neither a string nor a search is needed for a text that was seen
 * shortly before. Each text has one place. It takes the place when it comes for the second time while no other text has
 * asked for the place: texts that come once, such as those of a log in which each line is new, leave nothing behind.
 * When as many texts have not been found as there are places, it begins anew with four times the places.
 */
export class BytesCache<Value> {
  readonly #mostPlaces: number;
  #mask = 0;
  #texts = Buffer.alloc(0);
  /** For each place, the length of its text + 1; 0 if it is empty. */
  #lengths = new Uint8Array(0);
  #values: (Value | undefined)[] = [];
  /** For each place, the hash of the text that asked for it last and did not have it. */
  #asked = new Int32Array(0);
  /** How many texts have not been found since the last start. */
  #missed = 0;
  /** The place that the last text may take; -1 if it may not. */
  #free = -1;

  /** @param mostPlaces - A power of two. Each needs about 80 bytes. */
  constructor(mostPlaces: number) {
    this.#mostPlaces = mostPlaces;
    this.#start(Math.min(FIRST_PLACES, mostPlaces));
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
    const places = this.#mask + 1;
    if (++this.#missed >= places && places < this.#mostPlaces) this.#start(Math.min(4 * places, this.#mostPlaces));
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

  #start(places: number): void {
    this.#mask = places - 1;
    this.#texts = Buffer.alloc(places * MAX_BYTES);
    this.#lengths = new Uint8Array(places);
    this.#values = Array.from<undefined>({ length: places });
    this.#asked = new Int32Array(places);
    this.#missed = 0;
    this.#free = -1;
  }

  #isAt(place: number, bytes: Buffer, start: number, end: number): boolean {
    const from = place * MAX_BYTES - start;
    for (let at = start; at < end; at++) if (this.#texts[from + at] !== bytes[at]) return false;
    return true;
  }
}

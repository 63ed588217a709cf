/** The longest text that is remembered, in bytes. */
const MAX_BYTES = 64;
const SLOTS = 32_768;

/**
 * Remembers what was made of the bytes of a text, so that no string is needed for a text that was seen shortly before. Each
 * text has one place, and takes it from the text before. Needs about 2 MB.
 */
export class BytesCache<Value> {
  readonly #texts = Buffer.alloc(SLOTS * MAX_BYTES);
  readonly #lengths = new Uint8Array(SLOTS);
  readonly #values: (Value | undefined)[] = Array.from({ length: SLOTS }, () => undefined);
  #slot = -1;

  /** Returns the value of a text. If it has none, {@link set} sets it. */
  get(bytes: Buffer, start: number, end: number): Value | undefined {
    const length = end - start;
    this.#slot = -1;
    if (length > MAX_BYTES) return undefined;
    let hash = length;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    const slot = ((hash >>> 15) ^ hash) & (SLOTS - 1);
    this.#slot = slot;
    if (this.#lengths[slot] !== length) return undefined;
    const from = slot * MAX_BYTES - start;
    for (let at = start; at < end; at++) if (this.#texts[from + at] !== bytes[at]) return undefined;
    return this.#values[slot];
  }

  /** Sets the value of the text that {@link get} was last called with. */
  set(bytes: Buffer, start: number, end: number, value: Value): void {
    if (this.#slot === -1) return;
    bytes.copy(this.#texts, this.#slot * MAX_BYTES, start, end);
    this.#lengths[this.#slot] = end - start;
    this.#values[this.#slot] = value;
  }
}

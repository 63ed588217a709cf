// The room wire: the bytes: the first message, frames, operations and answers.

/** The bytes before the body of a frame: its length, and how many numbers it begins with. */
export const HEADER_BYTES = 8;

/** Set in the second field of the header if the text has two bytes for each unit of UTF-16, and not one. */
export const WIDE = 0x8000_0000;

/** The most bytes of one operation: some 50,000 buckets. */
export const MAX_OPERATION_BYTES = 4_194_304;

/** When a frame has so many bytes, no more operations are added to it. */
export const FULL_FRAME_BYTES = 65_536;

/** The most bytes of the body of a frame. Its last operation may be of any size. */
export const MAX_FRAME_BYTES: number = MAX_OPERATION_BYTES + FULL_FRAME_BYTES;

/** A position in a frame, to which a writer can return. */
export interface Mark {
  readonly count: number;
  readonly text: string;
}

/**
 * Writes frames. The body of a frame is a list of numbers, 8 bytes each in the byte order of the host, and after them
 * one text. Everything is written into these two, because a call of V8 for each field would cost more than the decision.
 */
export class FrameWriter {
  #numbers = new Float64Array(1024);
  #bytes = Buffer.from(this.#numbers.buffer);
  #count = 0;
  #text = '';
  /** The limit of the last entry; undefined at the beginning of a frame. */
  limit: string | undefined;

  /** An upper bound of the bytes of the body so far. */
  get bytes(): number {
    return 8 * this.#count + 2 * this.#text.length;
  }

  number(value: number): void {
    if (this.#count === this.#numbers.length) this.#grow();
    this.#numbers[this.#count++] = value;
  }

  /** Adds any text, also one that is not well-formed. */
  text(value: string): void {
    this.number(value.length);
    this.#text += value;
  }

  mark(): Mark {
    return { count: this.#count, text: this.#text };
  }

  /** Removes what was added since. */
  returnTo({ count, text }: Mark): void {
    this.#count = count;
    this.#text = text;
    this.limit = undefined;
  }

  /** Returns the frame, and begins an empty one. */
  take(): Buffer {
    const [text, numberBytes] = [this.#text, 8 * this.#count];
    // One byte of UTF-8 for each unit means ASCII, which is the same in Latin-1. That is the fastest test.
    const isWide = Buffer.byteLength(text) !== text.length;
    const bytes = numberBytes + (isWide ? 2 * text.length : text.length);
    const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes);
    frame.writeUInt32LE(bytes, 0);
    frame.writeUInt32LE(isWide ? WIDE + this.#count : this.#count, 4);
    this.#bytes.copy(frame, HEADER_BYTES, 0, numberBytes);
    frame.write(text, HEADER_BYTES + numberBytes, isWide ? 'utf16le' : 'latin1');
    this.clear();
    return frame;
  }

  /** Begins an empty frame. */
  clear(): void {
    this.#count = 0;
    this.#text = '';
    this.limit = undefined;
  }

  #grow(): void {
    const larger = new Float64Array(2 * this.#numbers.length);
    larger.set(this.#numbers);
    this.#numbers = larger;
    this.#bytes = Buffer.from(larger.buffer);
  }
}

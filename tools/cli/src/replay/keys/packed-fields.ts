import { copyBytes } from '../entries/copy-bytes.ts';

/** Before each value: 0 if the line does not have it, otherwise its length + 1. No line is longer than 64 KiB. */
const LENGTH_BYTES = 2;

/** Packs the values of some fields of a line one after the other, so that few bytes have to be kept of it. */
export class FieldPacker {
  /** The values of the last line. */
  bytes: Buffer = Buffer.alloc(1024);
  readonly #fields: readonly number[];
  readonly #keepsLine: boolean;

  /**
   * @param fields - Their numbers in the spans of the parser.
   * @param keepsLine - Whether the whole line follows after the values.
   */
  constructor(fields: readonly number[], keepsLine: boolean) {
    this.#fields = fields;
    this.#keepsLine = keepsLine;
  }

  /** Packs the values of a line into {@link bytes}, and returns their length. */
  pack(line: Buffer, start: number, end: number, spans: Int32Array): number {
    let at = 0;
    for (let i = 0; i < this.#fields.length; i++) {
      const [from, to] = [spans[2 * this.#fields[i]!]!, spans[2 * this.#fields[i]! + 1]!];
      const length = from === -1 ? 0 : to - from;
      this.#makeRoom(at + LENGTH_BYTES + length);
      const prefix = from === -1 ? 0 : length + 1;
      this.bytes[at] = prefix & 255;
      this.bytes[at + 1] = prefix >> 8;
      at += LENGTH_BYTES;
      if (length > 0) copyBytes(line, from, this.bytes, at, length);
      at += length;
    }
    if (!this.#keepsLine) return at;
    this.#makeRoom(at + end - start);
    copyBytes(line, start, this.bytes, at, end - start);
    return at + end - start;
  }

  #makeRoom(length: number): void {
    if (length <= this.bytes.length) return;
    const larger = Buffer.alloc(2 * length);
    this.bytes.copy(larger);
    this.bytes = larger;
  }
}

/**
 * Finds packed values, and writes their spans as a parser does.
 *
 * @param fields - How many there are.
 * @returns The byte after the last value, where the line begins if it is kept.
 */
export function unpackFields(packed: Buffer, start: number, fields: number, spans: Int32Array): number {
  let at = start;
  for (let i = 0; i < fields; i++) {
    const prefix = packed[at]! | (packed[at + 1]! << 8);
    at += LENGTH_BYTES;
    spans[2 * i] = prefix === 0 ? -1 : at;
    if (prefix > 0) at += prefix - 1;
    spans[2 * i + 1] = prefix === 0 ? -1 : at;
  }
  return at;
}

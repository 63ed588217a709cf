// The room protobuf: the fields of messages, read and written.

/** The wire types of protocol buffers. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

/** Thrown for bytes that are not a message. */
export class MalformedMessage extends Error {}

/** How deep unknown groups may be nested. */
const MAX_GROUPS = 64;

/**
 * Reads the fields of one message, without copying. Unknown fields are skipped, as the format demands.
 *
 *     while (reader.next()) if (reader.field === 1) name = reader.text(); else reader.skip();
 *
 * @see https://protobuf.dev/programming-guides/encoding/
 */
export class ProtoReader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;
  /** The number of the current field. */
  field = 0;
  /** The wire type of the current field. */
  wire = 0;

  constructor(bytes: Buffer, at = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  /** Reads the number and the type of the next field. Returns false at the end of the message. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.uint32();
    this.field = tag >>> 3;
    this.wire = tag & 7;
    if (this.field === 0) throw new MalformedMessage('a field has the number 0');
    return true;
  }

  /** Whether the current field is this one. A known number with another wire type is a field to skip. */
  is(field: number, wire: number): boolean {
    return this.field === field && this.wire === wire;
  }

  /** Reads a varint as its lowest 32 bits, as a `uint32` or a `bool` is read. */
  uint32(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new MalformedMessage('a varint has more than 10 bytes');
  }

  /**
   * Reads a number, such as a `uint64`. Above 2^53 it is not exact, and never less than what is written: one that no type
   * can have is not cut to its lowest bits, which may be 0.
   */
  uint64(): number {
    let value = 0;
    for (let i = 0, factor = 1; i < 10; i++, factor *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new MalformedMessage('a varint has more than 10 bytes');
  }

  text(): string {
    const end = this.#lengthEnd();
    const text = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end;
    return text;
  }

  /** Returns a reader of a message in the current field. */
  message(): ProtoReader {
    const end = this.#lengthEnd();
    const inner = new ProtoReader(this.#bytes, this.#at, end);
    this.#at = end;
    return inner;
  }

  /** Skips the value of the current field. */
  skip(): void {
    let groups = 0;
    let { wire } = this;
    do {
      if (wire === WIRE.startGroup) groups++;
      else if (wire === WIRE.endGroup) groups--;
      else this.#skipValue(wire);
      if (groups < 0 || groups > MAX_GROUPS) throw new MalformedMessage('groups do not match, or are too deep');
      if (groups > 0) wire = this.uint32() & 7;
    } while (groups > 0);
  }

  #skipValue(wire: number): void {
    if (wire === WIRE.varint) this.uint32();
    else if (wire === WIRE.bytes) this.#at = this.#lengthEnd();
    else if (wire === WIRE.fixed64) this.#advance(8);
    else if (wire === WIRE.fixed32) this.#advance(4);
    else throw new MalformedMessage('a field has an unknown wire type');
  }

  #lengthEnd(): number {
    const length = this.uint32();
    if (length > this.#end - this.#at) throw new MalformedMessage('a field is longer than its message');
    return this.#at + length;
  }

  #advance(length: number): void {
    if (length > this.#end - this.#at) throw new MalformedMessage('the message ends within a field');
    this.#at += length;
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new MalformedMessage('the message ends within a number');
    return this.#bytes[this.#at++]!;
  }
}

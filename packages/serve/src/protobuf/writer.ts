import { WIRE } from './reader.ts';

/** Writes one message. Zeros, empty texts and false are left out, as the format demands of fields without presence. */
export class ProtoWriter {
  #bytes: Buffer;
  #at: number;

  /** @param headroom - Bytes that are left free before the message. */
  constructor(headroom = 0) {
    this.#bytes = Buffer.allocUnsafe(512);
    this.#at = headroom;
  }

  /** The bytes so far, with the headroom. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Writes a whole number from 0 to 2^53 - 1. */
  uint(field: number, value: number): void {
    if (value === 0) return;
    this.#tag(field, WIRE.varint);
    this.#varint(value);
  }

  double(field: number, value: number): void {
    this.#tag(field, WIRE.fixed64);
    this.#reserve(8);
    this.#bytes.writeDoubleLE(value, this.#at);
    this.#at += 8;
  }

  text(field: number, value: string): void {
    if (value === '') return;
    const length = Buffer.byteLength(value);
    this.#tag(field, WIRE.bytes);
    this.#varint(length);
    this.#reserve(length);
    this.#at += this.#bytes.write(value, this.#at, length);
  }

  /** Begins a message, also an empty one. Returns what {@link endMessage} needs. */
  beginMessage(field: number): number {
    this.#tag(field, WIRE.bytes);
    this.#reserve(1);
    return ++this.#at;
  }

  /** @param start - What `beginMessage` has returned. */
  endMessage(start: number): void {
    const length = this.#at - start;
    if (length < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    // A longer length needs more than the byte that was left free for it.
    const more = varintLength(length) - 1;
    this.#reserve(more);
    this.#bytes.copyWithin(start + more, start, this.#at);
    this.#at = start - 1;
    this.#varint(length);
    this.#at = start + more + length;
  }

  #tag(field: number, wire: number): void {
    this.#varint(field * 8 + wire);
  }

  #varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#at++] = rest;
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + length));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

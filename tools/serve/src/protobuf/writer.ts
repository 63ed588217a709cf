import { WIRE } from './reader.ts';

/** Many messages are written one behind the other into one piece of memory, which costs less than one for each. */
const SLAB_BYTES = 16_384;
/** A message begins in a slab only if so much of it is free. Few are longer. */
const USUAL_BYTES = 512;
/** For texts so short, a loop is faster than a call of `Buffer`. */
const SHORT_TEXT = 64;

/** What the last writer has left of its slab. Undefined while a writer uses it. */
let spare: { readonly bytes: Buffer; at: number } | undefined;

/** Writes one message. Zeros, empty texts and false are left out, as the format demands of fields without presence. */
export class ProtoWriter {
  #bytes: Buffer;
  readonly #slab: { readonly bytes: Buffer; at: number };
  #start: number;
  #at: number;

  /** @param headroom - Bytes that are left free before the message. */
  constructor(headroom = 0) {
    const slab = spare !== undefined && spare.bytes.length - spare.at >= USUAL_BYTES ? spare : newSlab();
    spare = undefined;
    this.#slab = slab;
    this.#bytes = slab.bytes;
    this.#start = slab.at;
    this.#at = slab.at + headroom;
  }

  /** Ends the message. Returns its bytes, with the headroom. */
  finish(): Buffer {
    const slab = this.#slab;
    if (this.#bytes === slab.bytes) slab.at = this.#at;
    spare = slab;
    return this.#bytes.subarray(this.#start, this.#at);
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
    this.#tag(field, WIRE.bytes);
    if (value.length >= SHORT_TEXT || !this.#shortAscii(value)) this.#anyText(value);
  }

  #anyText(value: string): void {
    const length = Buffer.byteLength(value);
    this.#varint(length);
    this.#reserve(length);
    this.#at += this.#bytes.write(value, this.#at, length);
  }

  /** Begins a message, also an empty one. Returns what {@link endMessage} needs. */
  beginMessage(field: number): number {
    this.#tag(field, WIRE.bytes);
    this.#reserve(1);
    // From the beginning, because memory that is too small is replaced.
    return ++this.#at - this.#start;
  }

  /** @param begin - What `beginMessage` has returned. */
  endMessage(begin: number): void {
    const start = this.#start + begin;
    const length = this.#at - start;
    if (length < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    this.#endLongMessage(begin, length);
  }

  /** A longer length needs more than the byte that was left free for it. */
  #endLongMessage(begin: number, length: number): void {
    const more = varintLength(length) - 1;
    this.#reserve(more);
    const start = this.#start + begin;
    this.#bytes.copyWithin(start + more, start, this.#at);
    this.#at = start - 1;
    this.#varint(length);
    this.#at = start + more + length;
  }

  /** Writes a short text with its length. Returns false, and has written nothing, if it is not ASCII. */
  #shortAscii(value: string): boolean {
    const { length } = value;
    this.#reserve(length + 1);
    const bytes = this.#bytes;
    const start = this.#at + 1;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code >= 0x80) return false;
      bytes[start + i] = code;
    }
    bytes[start - 1] = length;
    this.#at = start + length;
    return true;
  }

  #tag(field: number, wire: number): void {
    this.#varint(field * 8 + wire);
  }

  #varint(value: number): void {
    this.#reserve(10);
    // Nearly all are below 128.
    if (value < 0x80) this.#bytes[this.#at++] = value;
    else this.#longVarint(value);
  }

  #longVarint(value: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let rest = value;
    while (rest >= 0x80) {
      bytes[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    bytes[at++] = rest;
    this.#at = at;
  }

  #reserve(length: number): void {
    if (this.#at + length > this.#bytes.length) this.#grow(length);
  }

  #grow(length: number): void {
    const written = this.#at - this.#start;
    const larger = Buffer.allocUnsafeSlow(Math.max(written * 2, written + length));
    this.#bytes.copy(larger, 0, this.#start, this.#at);
    this.#bytes = larger;
    this.#start = 0;
    this.#at = written;
  }
}

function newSlab(): { readonly bytes: Buffer; at: number } {
  return { bytes: Buffer.allocUnsafeSlow(SLAB_BYTES), at: 0 };
}

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) length++;
  return length;
}

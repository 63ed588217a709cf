// The room hash: the keyed hash of ids.

/** The two keys of a hash function: for text with char codes up to 255, and for all other text. */
export interface HashKey {
  readonly narrow0: number;
  readonly narrow1: number;
  readonly wide0: number;
  readonly wide1: number;
}

/**
 * Hashes text to 64 bits by HalfSipHash-2-4: two int32, written to `out[at]` (low) and `out[at + 1]` (high). Without
 * the key, an attacker can't choose texts with the same hash, or many texts for one position of a table.
 *
 * Text whose char codes are all below 256 is hashed as these bytes, read directly from the string. Other text is hashed
 * as its UTF-16LE bytes under another key, so that the two kinds never produce the same input.
 *
 * @see J.-P. Aumasson, D. J. Bernstein: SipHash: a fast short-input PRF (2012), and HalfSipHash in the reference
 * implementation, https://github.com/veorq/SipHash; a test compares this function with its vectors.
 */
export function halfSipHash(text: string, key: HashKey, out: Int32Array, at: number): void {
  const charCodes = hashBytes(text, key.narrow0, key.narrow1, out, at);
  if (charCodes > 0xff) hashBytes(utf16Bytes(text), key.wide0, key.wide1, out, at);
}

function utf16Bytes(text: string): string {
  let bytes = '';
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    bytes += String.fromCharCode(code & 0xff, code >>> 8);
  }
  return bytes;
}

// The rounds are unrolled, separated by a blank line: a function can't return four numbers without allocating, and
// loops over rounds take 50 % longer. Returns the bitwise OR of all char codes: above 255, the hash is not valid.
function hashBytes(bytes: string, k0: number, k1: number, out: Int32Array, at: number): number {
  const length = bytes.length;
  const wholeWords = length & ~3;
  let v0 = k0;
  let v1 = k1 ^ 0xee;
  let v2 = k0 ^ 0x6c796765;
  let v3 = k1 ^ 0x74656462;
  let charCodes = 0;

  for (let i = 0; i <= wholeWords; i += 4) {
    let word: number;
    if (i < wholeWords) {
      const a = bytes.charCodeAt(i);
      const b = bytes.charCodeAt(i + 1);
      const c = bytes.charCodeAt(i + 2);
      const d = bytes.charCodeAt(i + 3);
      charCodes |= a | b | c | d;
      word = a | (b << 8) | (c << 16) | (d << 24);
    } else {
      word = length << 24;
      for (let j = i; j < length; j++) {
        const code = bytes.charCodeAt(j);
        charCodes |= code;
        word |= code << ((j - i) << 3);
      }
    }
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);

    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }

  v2 ^= 0xee;
  for (let half = 0; half < 2; half++) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);

    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);

    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);

    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    out[at + half] = v1 ^ v3;
    v1 ^= 0xdd;
  }
  return charCodes;
}

import { nodeModule } from '../runtime/node-module.ts';

const BLOCK_BYTES = 64;

/** Made when they are first needed, which is never in Node. */
let tables: ReturnType<typeof constants> | undefined;

/** Returns the SHA-256 of a text in UTF-8, in hexadecimal. */
export function sha256(text: string): string {
  const createHash = nodeModule('node:crypto')?.createHash;
  return createHash === undefined ? sha256Anywhere(text) : createHash('sha256').update(text).digest('hex');
}

/**
 * As {@link sha256} where there is no `node:crypto`: the Web's own SHA-256 returns a promise. Ten times slower.
 *
 * @see FIPS 180-4, section 6.2
 */
export function sha256Anywhere(text: string): string {
  const message = padded(new TextEncoder().encode(text));
  const { K, H } = (tables ??= constants());
  const hash = H.slice();
  const words = new Int32Array(64);
  for (let at = 0; at < message.byteLength; at += BLOCK_BYTES) {
    schedule(words, message, at);
    compress(hash, words, K);
  }
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function padded(bytes: Uint8Array): DataView {
  const blocks = Math.ceil((bytes.length + 9) / BLOCK_BYTES);
  const message = new Uint8Array(blocks * BLOCK_BYTES);
  message.set(bytes);
  message[bytes.length] = 0x80;
  const view = new DataView(message.buffer);
  view.setBigUint64(message.length - 8, BigInt(bytes.length) * 8n);
  return view;
}

function schedule(words: Int32Array, message: DataView, at: number): void {
  for (let t = 0; t < 16; t++) words[t] = message.getInt32(at + 4 * t);
  for (let t = 16; t < 64; t++) {
    const [w2, w15] = [words[t - 2]!, words[t - 15]!];
    const s0 = rotated(w15, 7) ^ rotated(w15, 18) ^ (w15 >>> 3);
    const s1 = rotated(w2, 17) ^ rotated(w2, 19) ^ (w2 >>> 10);
    words[t] = s1 + words[t - 7]! + s0 + words[t - 16]!;
  }
}

function compress(hash: Int32Array, words: Int32Array, K: Int32Array): void {
  let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number];
  for (let t = 0; t < 64; t++) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[t]! + words[t]!) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) hash[i]! += word;
}

function rotated(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function constants(): { readonly K: Int32Array; readonly H: Int32Array } {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  const fraction = (root: number): number => (root % 1) * 2 ** 32;
  return {
    K: Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
    H: Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
  };
}

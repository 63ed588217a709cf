import { describe, expect, test } from 'vitest';
import { halfSipHash } from '../../../src/hash/half-sip-hash.ts';
import { IdHasher } from '../../../src/store/memory/id-hasher.ts';

function idHash(hasher: IdHasher, id: string): string {
  const out = new Int32Array(2);
  hasher.hash(id, out, 0);
  return out.join(' ');
}

function secret(byte: number, at?: number): () => Uint8Array {
  return () => new Uint8Array(16).map((_, i) => (at === undefined || at === i ? byte : 0));
}

/** The hash of an id under `secret(7)`. */
function hashUnderSevens(id: string): string {
  const [key, out] = [0x07070707, new Int32Array(2)];
  halfSipHash(id, { narrow0: key, narrow1: key, wide0: key, wide1: key }, out, 0);
  out[0] = (out[0] ?? 0) | 1;
  return out.join(' ');
}

describe('the hash of an id', () => {
  test('is the same for the same id, in turn with others', () => {
    const hasher = new IdHasher(secret(7));
    const [a, b] = [idHash(hasher, 'a'), idHash(hasher, 'b')];
    expect([idHash(hasher, 'b'), idHash(hasher, 'a'), idHash(hasher, 'a')]).toEqual([b, a, a]);
  });

  test('is the same for the id of everyone, which is remembered beside the last id', () => {
    const hasher = new IdHasher(secret(7));
    const [a, all] = ['a', 'everyone'].map(hashUnderSevens);
    expect(['a', 'everyone', 'a', 'everyone'].map((id) => idHash(hasher, id))).toEqual([a, all, a, all]);
  });

  test('is another for every id and secret, for narrow and wide text', () => {
    const hashers = [new IdHasher(secret(7)), new IdHasher(secret(0))];
    const ids = ['', 'b', '.B', '€', '日'];
    const hashes = hashers.flatMap((hasher) => ids.map((id) => idHash(hasher, id)));
    expect(new Set(hashes).size).toBe(2 * ids.length);
  });

  test.each(Array.from({ length: 16 }, (_, at) => at))('depends on byte %i of the secret', (at) => {
    const id = at < 8 ? 'narrow' : '日本';
    expect(idHash(new IdHasher(secret(1, at)), id)).not.toBe(idHash(new IdHasher(secret(0)), id));
  });

  test('reads a secret that is a part of a larger buffer', () => {
    const buffer = new Uint8Array(40).fill(9, 5, 21);
    expect(idHash(new IdHasher(() => buffer.subarray(5, 21)), 'a')).toBe(idHash(new IdHasher(secret(9)), 'a'));
  });

  test('begins with an odd word, never with the 0 of an empty slot', () => {
    const hasher = new IdHasher(secret(7));
    const lows = Array.from({ length: 1000 }, (_, i) => Number.parseInt(idHash(hasher, `${i}`), 10));
    expect(lows.filter((low) => low % 2 === 0)).toEqual([]);
  });
});

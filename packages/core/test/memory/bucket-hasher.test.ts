import { describe, expect, test } from 'vitest';
import { BucketHasher } from '../../src/memory/bucket-hasher.ts';

const secret = new Uint8Array(32).fill(7);

function hash(hasher: BucketHasher, limit: string, id: string): string {
  const out = new Int32Array(2);
  hasher.hash({ limit, id }, out, 0);
  return out.join(' ');
}

describe('the hash of a bucket', () => {
  test('is the same for the same limit and id, in turn with others', () => {
    const hasher = new BucketHasher(secret);
    const [a, b] = [hash(hasher, 'A', 'id'), hash(hasher, 'B', 'id')];
    expect([hash(hasher, 'B', 'id'), hash(hasher, 'A', 'id'), hash(hasher, 'A', 'id')]).toEqual([b, a, a]);
  });

  test('is another for every limit, id and secret, for narrow and wide text', () => {
    const hashers = [new BucketHasher(secret), new BucketHasher(new Uint8Array(32))];
    const names = ['A', 'a', 'A.B', 'Ab', 'B'].flatMap((limit) =>
      ['', 'b', '.B', '€', '日'].map((id) => [limit, id] as const),
    );
    const hashes = hashers.flatMap((hasher) => names.map(([limit, id]) => hash(hasher, limit, id)));
    expect(new Set(hashes).size).toBe(2 * names.length);
  });

  test('begins with an odd word, never with the 0 of an empty slot', () => {
    const hasher = new BucketHasher(secret);
    const lows = Array.from({ length: 1000 }, (_, i) => Number.parseInt(hash(hasher, 'A', `${i}`), 10));
    expect(lows.filter((low) => low % 2 === 0)).toEqual([]);
  });

  test('stays the same when names of limits come without end and their keys are forgotten', () => {
    const hasher = new BucketHasher(secret);
    const first = hash(hasher, 'Limit0', 'id');
    for (let i = 0; i < 5000; i++) hash(hasher, `Limit${i}`, 'id');
    expect(hasher.cachedKeys).toBeLessThanOrEqual(1000);
    expect(hash(hasher, 'Limit0', 'id')).toBe(first);
  });
});

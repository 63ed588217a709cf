import { createHash } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { bucketKey } from '../../src/store/bucket-key.ts';
import { sha256, sha256Anywhere } from '../../src/hash/sha-256.ts';

afterEach(() => vi.unstubAllGlobals());

// All lengths around the ends of blocks of 64 bytes, of which nine are padding.
test.each(Array.from({ length: 200 }, (_, length) => length))('hashes %i characters as node:crypto does', (length) => {
  const text = Array.from({ length }, (_, i) => String.fromCodePoint((i * 7919) % 0x7ff)).join('');
  const expected = createHash('sha256').update(text).digest('hex');
  expect([sha256(text), sha256Anywhere(text)]).toEqual([expected, expected]);
});

test('a long id has the same bucket key in a runtime without Node', () => {
  const long = '€'.repeat(200);
  const key = bucketKey('Orders', long);
  vi.stubGlobal('process', undefined);
  expect(bucketKey('Orders', long)).toBe(key);
});

import { bucketKey } from '@sluice/core/store';
import fc from 'fast-check';
import { expect, test } from 'vitest';

// Names that share beginnings, and ids full of what keys are made of.
const limit = fc.stringMatching(/^[A-Za-c][a-c0-2_.-]{0,3}$/);
const id = fc.oneof(
  fc.string({ unit: fc.constantFrom(...Array.from('abA01:%#{}3/._-é😀')), maxLength: 8 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 190, maxLength: 300 }),
);
const bucket = fc.tuple(limit, id);

test('no two buckets have one key', () => {
  fc.assert(
    fc.property(bucket, bucket, ([limit1, id1], [limit2, id2]) => {
      const isSame = limit1 === limit2 && id1 === id2;
      expect(bucketKey(limit1, id1) === bucketKey(limit2, id2)).toBe(isSame);
    }),
  );
});

test('a key has at most 200 bytes, is plain ASCII without a space or a brace, and begins with its limit', () => {
  fc.assert(
    fc.property(bucket, ([name, text]) => {
      const key = bucketKey(name, text);
      expect(key).toMatch(/^[A-Za-z0-9_.:%#-]{1,200}$/);
      expect(key.startsWith(`${name}:`)).toBe(true);
      expect(key.indexOf(':', name.length + 1)).toBe(-1);
    }),
  );
});

test('the id can be read from a key that is not too long', () => {
  fc.assert(
    fc.property(bucket, ([name, text]) => {
      const key = bucketKey(name, text);
      fc.pre(!key.startsWith(`${name}:#`));
      expect(decodeURIComponent(key.slice(name.length + 1))).toBe(text);
    }),
  );
});

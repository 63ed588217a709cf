import { describe, expect, it } from 'vitest';
import { ValueCache } from '../../src/replay/entries/value-cache.ts';

describe('ValueCache', () => {
  it('keeps the texts that were used lately, and forgets the others', () => {
    const cache = new ValueCache<number>(2);
    for (const [i, text] of ['a', 'b', 'c'].entries()) cache.set(text, i);
    expect(cache.get('a')).toBe(0);
    cache.set('d', 3);
    expect(['a', 'b', 'c', 'd'].map((text) => cache.get(text))).toEqual([0, undefined, 2, 3]);
  });

  it('never has more than twice as many texts as it should have', () => {
    const cache = new ValueCache<number>(10);
    for (let i = 0; i < 1000; i++) cache.set(String(i), i);
    const kept = Array.from({ length: 980 }, (_, i) => cache.get(String(i))).filter((value) => value !== undefined);
    expect(kept).toEqual([]);
    expect(cache.get('999')).toBe(999);
  });
});

import { describe, expect, test } from 'vitest';
import { LimitKeys } from '../../src/memory/limit-keys.ts';

const secret = new Uint8Array(32).fill(7);

describe('the hash keys of limits', () => {
  test('are the same for the same limit, in turn with others', () => {
    const keys = new LimitKeys(secret);
    const [a, b] = [keys.of('A'), keys.of('B')];
    expect([keys.of('B'), keys.of('A'), keys.of('A')]).toEqual([b, a, a]);
  });

  test('are different for every limit and every secret, and for narrow and wide text', () => {
    const keys = [
      new LimitKeys(secret).of('A'),
      new LimitKeys(secret).of('a'),
      new LimitKeys(new Uint8Array(32)).of('A'),
    ];
    const halves = keys.flatMap(({ narrow0, narrow1, wide0, wide1 }) => [`${narrow0} ${narrow1}`, `${wide0} ${wide1}`]);
    expect(new Set(halves).size).toBe(6);
  });

  test('are forgotten when names of limits come without end, and are the same when made again', () => {
    const keys = new LimitKeys(secret);
    const first = keys.of('Limit0');
    for (let i = 0; i < 5000; i++) keys.of(`Limit${i}`);
    expect(keys.cached).toBeLessThanOrEqual(1000);
    expect(keys.of('Limit0')).toEqual(first);
  });
});

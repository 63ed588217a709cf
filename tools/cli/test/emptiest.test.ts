import { describe, expect, it } from 'vitest';
import { Emptiest } from '../src/limits/emptiest.ts';
import type { Figures } from '../src/limits/figures.ts';

const bucket = (id: string, remaining: number, burst: number, resetAfterMs = 0): Figures =>
  ({ limit: 'Orders', id, remaining, burst, resetAfterMs }) as Figures;

describe('the emptiest buckets', () => {
  it('are sorted by the part that is left, not by the number of tokens', () => {
    const emptiest = new Emptiest(3);
    for (const each of [bucket('small', 5, 10), bucket('large', 100, 1000), bucket('full', 7, 7)]) emptiest.add(each);
    expect(emptiest.list.map(({ id }) => id)).toEqual(['large', 'small', 'full']);
  });

  it('are sorted by the time until they are full where the same part is left, which shows a debt', () => {
    const emptiest = new Emptiest(3);
    for (const each of [bucket('a', 0, 10, 5), bucket('b', 0, 10, 9), bucket('d', 0, 10, 5)]) emptiest.add(each);
    expect(emptiest.list.map(({ id }) => id)).toEqual(['b', 'a', 'd']);
  });

  it('are no more than asked for, in whatever order they come', () => {
    for (const ids of [
      [1, 2, 3, 4],
      [4, 3, 2, 1],
      [3, 1, 4, 2],
    ]) {
      const emptiest = new Emptiest(2);
      for (const id of ids) emptiest.add(bucket(String(id), id, 10));
      expect(emptiest.list.map(({ id }) => id)).toEqual(['1', '2']);
    }
  });

  it('contain a bucket once, although SCAN may list its key again, and take one back that had to leave', () => {
    const emptiest = new Emptiest(2);
    for (const id of ['9', '9', '1', '2', '1']) emptiest.add(bucket(id, Number(id), 10));
    expect(emptiest.list.map(({ id }) => id)).toEqual(['1', '2']);
  });
});

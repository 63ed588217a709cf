import { describe, expect, test } from 'vitest';
import { SizeRanking } from '../../../src/store/memory/size-ranking.ts';
import { numbersFrom } from './numbers.ts';

function item(size: number) {
  return { size, rank: 0, rankedSize: 0 };
}

function rankingOf(items: readonly ReturnType<typeof item>[]) {
  const ranking = new SizeRanking<ReturnType<typeof item>>();
  for (const each of items) ranking.add(each);
  return ranking;
}

describe('the ranking by size', () => {
  test('gives the only item', () => {
    const only = item(0);
    expect(rankingOf([only]).largest()).toBe(only);
  });

  test('gives the largest also after it has grown, and after others have shrunk', () => {
    const [a, b, c] = [item(5), item(9), item(7)];
    const ranking = rankingOf([a, b, c]);
    expect(ranking.largest()).toBe(b);
    c.size = 10;
    ranking.grown(c);
    expect(ranking.largest()).toBe(c);
    c.size = 1;
    expect(ranking.largest()).toBe(b);
    b.size = 0;
    expect(ranking.largest()).toBe(a);
  });

  test('always returns one of the largest while members are added, grow, shrink and are removed', () => {
    const random = numbersFrom(4);
    const items = [item(3)];
    const ranking = rankingOf(items);
    let wrong = 0;
    for (let step = 0; step < 50_000; step++) {
      const choice = random();
      const index = Math.floor(random() * items.length);
      const one = items[index] ?? item(0);
      if (choice < 0.1 && items.length < 40) {
        const added = item(Math.floor(random() * 20));
        items.push(added);
        ranking.add(added);
      } else if (choice < 0.2 && items.length > 1) {
        items.splice(index, 1);
        ranking.remove(one);
      } else if (choice < 0.6) {
        one.size = Math.max(0, one.size - Math.floor(random() * 5));
      } else {
        one.size += Math.floor(random() * 4);
        if (one.size > one.rankedSize) ranking.grown(one);
      }
      if (random() < 0.3 && ranking.largest().size !== Math.max(...items.map(({ size }) => size))) wrong++;
    }
    expect(wrong).toBe(0);
  });
});

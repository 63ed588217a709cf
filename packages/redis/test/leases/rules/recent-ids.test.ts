import { expect, test } from 'vitest';
import { RecentIds } from '../../../src/leases/rules/recent-ids.ts';

const WINDOW = 1000;

test('an id is recent for the rest of its window of time and the next one', () => {
  const ids = new RecentIds(WINDOW);
  expect([0, 999, 1999, 4000].map((ticks) => ids.note('ann', ticks))).toEqual([false, true, true, false]);
  expect(ids.note('bob', 4000)).toBe(false);
});

test('an id that was noted once is not recent again after any number of windows', () => {
  for (let windows = 2; windows < 255; windows++) {
    const ids = new RecentIds(WINDOW);
    ids.note('ann', 7 * WINDOW);
    expect(ids.note('ann', (7 + windows) * WINDOW)).toBe(false);
  }
});

test('hardly any of 10,000 ids is taken for another one', () => {
  const ids = new RecentIds(WINDOW);
  const taken = Array.from({ length: 10_000 }, (_, i) => ids.note(`account-${i}`, 0)).filter(Boolean);
  expect(taken.length).toBeLessThan(500);
});

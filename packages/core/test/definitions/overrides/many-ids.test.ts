import { accountId, createLimiter, OverrideList, type Override } from '@sluice/core';
import { expect, onTestFinished, test, vi } from 'vitest';
import { thrown } from '../../support/thrown.ts';

const limits = { A: { key: accountId(), count: 10, period: '1m' } } as const;
const PLANS: readonly Override[] = [
  { count: 20, period: '1m' },
  'unlimited',
  { count: 30, period: '2m' },
  'blocked',
  { count: 20, period: '1m', burst: 5 },
];
const idOf = (i: number): string => `user-${i}`;
const planOf = (i: number): Override => PLANS[i % PLANS.length]!;

function listOf(count: number): OverrideList {
  const list = new OverrideList();
  for (let i = 0; i < count; i++) list.add('A', limits.A, idOf(i), planOf(i));
  return list;
}

/** The burst of an id; Infinity if it is unlimited. */
function burstsOf(list: OverrideList, count: number): readonly number[] {
  const limiter = createLimiter({ limits, overrides: list });
  return Array.from({ length: count }, (_, i) => {
    const { results } = limiter.checkSync([{ limit: 'A', id: idOf(i) }]);
    return results[0]?.burst ?? Infinity;
  });
}

const BURSTS = [20, Infinity, 30, 0, 5];

test.each([1000, 1024, 1025, 5000])(
  'each of %d listed ids has its own numbers, and others have those of the limit',
  (count) => {
    const expected = Array.from({ length: count + 50 }, (_, i) => (i < count ? BURSTS[i % BURSTS.length] : 10));
    expect(burstsOf(listOf(count), count + 50)).toEqual(expected);
  },
);

test('of many ids, each can be listed once', () => {
  const list = listOf(2000);
  for (const i of [0, 1023, 1024, 1999]) {
    expect(thrown(() => list.add('A', limits.A, idOf(i), 'blocked'))).toMatchObject({
      code: 'ERR_OVERRIDE',
      message: expect.stringContaining(`lists the id '${idOf(i)}' twice`) as string,
    });
  }
});

test('of many ids with the same numbers, the error about their bounds names the first', () => {
  const bounded = { A: { ...limits.A, atMost: { 42: '1m' } } } as const;
  expect(thrown(() => createLimiter({ limits: bounded, overrides: listOf(2000) }))).toMatchObject({
    message: expect.stringContaining("overrides.A['user-2']") as string,
  });
});

test('without random numbers, as in a Worker before its first request, many ids have their own numbers, too', () => {
  const random = vi.spyOn(crypto, 'getRandomValues').mockImplementation(() => {
    throw new Error('Disallowed operation called within global scope.');
  });
  onTestFinished(() => random.mockRestore());
  const list = listOf(2000);
  random.mockRestore();
  expect(burstsOf(list, 2000)).toEqual(Array.from({ length: 2000 }, (_, i) => BURSTS[i % BURSTS.length]));
});

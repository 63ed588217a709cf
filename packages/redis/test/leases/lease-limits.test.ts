import type { StoreTransaction } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { tokensOf } from '../../src/leases/lease-limits.ts';
import { page, TOKEN } from './support/pages.ts';

const PERIOD = { startMs: 0, endMs: 1000, next: undefined } as unknown as NonNullable<StoreTransaction['period']>;

describe('a transaction of a limit with an overshoot', () => {
  test.each([0, 1, 7])('takes %i tokens of the bucket of the process', (tokens) => {
    expect(tokensOf(page('7', tokens))).toBe(tokens);
  });

  test('of a bucket with the longest interval has whole tokens too', () => {
    const rate = { ...page('7').rate, emissionIntervalTicks: 2 ** 52 - 1, toleranceTicks: 2 ** 53 - 2 };
    const long = { ...page('7'), rate, fitTicks: rate.toleranceTicks };
    expect(tokensOf({ ...long, incrementTicks: 2 ** 53 - 2 })).toBe(2);
    expect(tokensOf({ ...long, incrementTicks: 2 ** 53 - 3 })).toBeUndefined();
  });

  test.each<[string, Partial<StoreTransaction>]>([
    ['without an overshoot', { treatment: undefined }],
    ['without a rate', { rate: undefined }],
    ['with a part of a token', { incrementTicks: TOKEN + 1 }],
    ['with more tokens than the burst', { incrementTicks: page('7').fitTicks + TOKEN }],
    ['up to another level than the burst', { fitTicks: page('7').fitTicks - TOKEN }],
    ['that may wait in line', { lineTicks: 1 }],
    ['of a period', { period: PERIOD }],
    ['of another calendar', { calendar: 'UTC' }],
    ['of slots', { slots: true }],
    ['that is charged above the burst', { mode: 'charge', capTicks: page('7').fitTicks + 1 }],
  ])('%s is decided by Redis', (_, change) => {
    expect(tokensOf({ ...page('7'), ...change })).toBeUndefined();
  });
});

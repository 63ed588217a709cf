import { accountId, type Rate } from '@sluice/core';
import fc from 'fast-check';
import type { Numbers } from './oracle.ts';

const DAY_MICROS = 86_400_000_000;
const TEN_YEARS_TICKS = 3652.5 * DAY_MICROS * 16;

const periodMicros = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(1_000_000, 60_000_000, 3_600_000_000, DAY_MICROS) },
  { weight: 2, arbitrary: fc.integer({ min: 1000, max: 10_000_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(1000, 30 * DAY_MICROS, 366 * DAY_MICROS) },
  { weight: 1, arbitrary: fc.integer({ min: 1000, max: 366 * DAY_MICROS }) },
);

const upTo = (max: number): fc.Arbitrary<number> =>
  fc.oneof(fc.integer({ min: 1, max: Math.min(max, 12) }), fc.integer({ min: 1, max }));

/** Any numbers that a limit may have: odd periods, up to 16 million per second, a burst of up to 10⁹ or ten years. */
export const anyNumbers: fc.Arbitrary<Numbers> = periodMicros
  .chain((period) => fc.record({ periodMicros: fc.constant(period), count: upTo(Math.min(1e9, period * 16)) }))
  .chain(({ periodMicros: period, count }) => {
    const longestBurst = Math.floor(TEN_YEARS_TICKS / Math.floor((period * 16) / count));
    return fc.record({
      periodMicros: fc.constant(period),
      count: fc.constant(count),
      burst: fc.oneof(
        { weight: 4, arbitrary: upTo(Math.min(1e9, longestBurst)) },
        { weight: 1, arbitrary: fc.constant(Math.min(1e9, longestBurst)) },
      ),
    });
  });

/** Numbers whose bucket fills within half a year: thirty such times fit into the 17 years that the time grid carries. */
export const quickNumbers: fc.Arbitrary<Numbers> = anyNumbers.filter(
  ({ burst, count, periodMicros: period }) => (burst / count) * period <= 180 * DAY_MICROS,
);

/** Numbers of at most 100,000 per second, for which the rate is promised. */
export const promisedNumbers: fc.Arbitrary<Numbers> = anyNumbers.filter(
  ({ count, periodMicros: period }) => count * 10 <= period,
);

/** Numbers as they are written in a limit. */
export function written({ burst, count, periodMicros: period }: Numbers): Omit<Rate, 'borrow'> {
  return { burst, count, period: `${period}us` };
}

/** A limit of accounts with these numbers. Should its store give nonsense, nothing passes. */
export function limitOf(numbers: Numbers) {
  return { key: accountId(), onFailure: 'closed' as const, ...written(numbers) };
}

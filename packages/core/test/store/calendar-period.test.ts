import { describe, expect, test } from 'vitest';
import { SluiceError } from '../../src/checks/errors.ts';
import { endOfPeriod, StalePeriodError } from '../../src/store/calendar-period.ts';

describe('the period that runs', () => {
  test.each([
    [-1, undefined],
    [0, 10],
    [9, 10],
    [10, 30],
    [29, 30],
    [30, undefined],
    [NaN, undefined],
  ])('at %s of [0, 10, 30] ends at %s', (wallMs, end) => {
    expect(endOfPeriod([0, 10, 30], wallMs)).toBe(end);
  });
});

describe('the error for a stale period', () => {
  test('shows the clock of the store and both periods, and is a matter of the operator', () => {
    const start = Date.UTC(2026, 6, 1);
    const error = new StalePeriodError([start, start + 1000, start + 2000], start - 1);
    expect(error).toBeInstanceOf(SluiceError);
    expect(error).toMatchObject({ name: 'SluiceError', code: 'ERR_STORE_PERIOD', kind: 'store', wallMs: start - 1 });
    expect(error.message).toBe(
      "The store's clock shows 2026-06-30T23:59:59.999Z, but the call was for the periods from 2026-07-01T00:00:00.000Z " +
        'to 2026-07-01T00:00:01.000Z and from there to 2026-07-01T00:00:02.000Z. Nothing was changed. If this lasts, set ' +
        'the clock of this process or that of the store.',
    );
  });

  test('can also be shown for numbers that are not dates', () => {
    expect(new StalePeriodError([1e300, 1e300, 1e300], NaN).message).toMatch(
      /shows NaN, .* from 1e\+300 to 1e\+300 and from there to 1e\+300/,
    );
  });
});

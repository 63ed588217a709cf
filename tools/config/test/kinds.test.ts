import { describe, expect, test } from 'vitest';
import { thrown } from '../../../packages/core/test/support/thrown.ts';
import { kindOfOverride, kindShownBy } from '../src/shape/kinds.ts';

const BORROW = { from: 'Pool', ceiling: { count: 2, period: '1s' } };

test.each<[string, Record<string, unknown>]>([
  ['a rate', { count: 1, period: '1s' }],
  ['a rate', {}],
  ['a rate', { burst: 1, count: 1, period: '1s', maxDebt: 1, maxWait: '1s', atMost: {}, overshoot: 1 }],
  ['a rate that borrows', { burst: 1, count: 1, period: '1s', maxDebt: 1, atMost: {}, borrow: BORROW }],
  ['a quota', { count: 1, per: 'day' }],
  ['a quota', { count: 1, per: 'day', timeZone: 'UTC', anchor: '2026-01-31', warnAt: [1] }],
  ['a concurrency limit', { concurrency: 1 }],
  ['a concurrency limit', { concurrency: 1, expiry: '1s', scope: 'process' }],
  ['a load limit', { load: 'eventLoop' }],
])('the limit is %s with %o', (noun, given) => {
  expect(kindShownBy('A', given).noun).toBe(noun);
});

test('an option that is undefined is left out', () => {
  const given = { concurrency: undefined, per: undefined, expiry: undefined, count: 1 };
  expect(kindShownBy('A', given).noun).toBe('a rate');
});

test('an option with a wrong value shows its kind all the same, so that the error is about the value', () => {
  expect(kindShownBy('A', { concurrency: null }).noun).toBe('a concurrency limit');
  expect(kindShownBy('A', { count: 1, per: 7 }).noun).toBe('a quota');
});

describe('the options of two kinds are an error, which says what to do:', () => {
  test.each<[Record<string, unknown>, string]>([
    [
      { concurrency: 10, count: 1, period: '1s' },
      '`A.count` must be left out beside `concurrency`: a limit is a concurrency limit or a rate. For both define two limits, and use them in one batch.',
    ],
    [
      { concurrency: 10, burst: 1 },
      '`A.burst` must be left out beside `concurrency`: a limit is a concurrency limit or a rate. For both define two limits, and use them in one batch.',
    ],
    [
      { concurrency: 10, timeZone: 'UTC' },
      '`A.timeZone` must be left out beside `concurrency`: a limit is a concurrency limit or a quota. For both define two limits, and use them in one batch.',
    ],
    [
      { concurrency: 10, per: 'day' },
      '`A.concurrency` must be left out beside `per`: a limit is a quota or a concurrency limit. For both define two limits, and use them in one batch.',
    ],
    [
      { concurrency: 10, load: 'eventLoop' },
      '`A.load` must be left out beside `concurrency`: a limit is a concurrency limit or a load limit. For both define two limits, and use them in one batch.',
    ],
    [
      { load: 'eventLoop', period: '1s' },
      '`A.period` must be left out beside `load`: a limit is a load limit or a rate. For both define two limits, and use them in one batch.',
    ],
    [
      { count: 1, period: '1s', borrow: BORROW, maxWait: '1s' },
      '`A.maxWait` must be left out beside `borrow`: whether a request has to wait would depend on the pool. Put `maxWait` on a second limit with the same key.',
    ],
    [
      { concurrency: 10, overshoot: 1 },
      '`A.overshoot` must be left out beside `concurrency`: only a rate can have one.',
    ],
    [
      { count: 1, period: '1s', expiry: '10s' },
      '`A.expiry` must be given only with `concurrency`. For a concurrency limit add concurrency: 10; for a rate leave it out.',
    ],
    [
      { count: 1, period: '1s', scope: 'process' },
      '`A.scope` must be given only with `concurrency`. For a concurrency limit add concurrency: 10; for a rate leave it out.',
    ],
    [
      { count: 1, period: '1s', anchor: '2026-01-31' },
      "`A.anchor` must be given only with `per`. For a quota add per: 'month'; for a rate leave it out.",
    ],
  ])('%o', (given, message) => {
    const error = thrown(() => kindShownBy('A', given));
    expect(error.message).toBe(message);
    expect(error.code).toBe('ERR_LIMIT');
  });
});

test.each<[string, readonly string[]]>([
  ['a rate', ['count', 'period']],
  ['a rate', ['burst', 'count', 'period', 'maxWait']],
  ['a rate', []],
  ['a rate', ['nonsense']],
  ['a quota', ['count']],
  ['a concurrency limit', ['concurrency']],
  ['a concurrency limit', ['concurrency', 'count']],
  ['a rate that borrows', ['count', 'period', 'borrow']],
  ['a rate that borrows', ['borrow']],
])('the numbers of an override are those of %s with %o', (noun, given) => {
  expect(kindOfOverride(given).noun).toBe(noun);
});

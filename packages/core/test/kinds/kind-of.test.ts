import { describe, expect, test } from 'vitest';
import { kindOf } from '../../src/kinds/kind-of.ts';
import { thrown } from '../support/thrown.ts';

test.each<[string, object]>([
  ['rate', { count: 1, period: '1s' }],
  ['rate', {}],
  ['rate', { burst: 1, count: 1, period: '1s', maxDebt: 1, maxWait: '1s', atMost: {}, borrow: {} }],
  ['quota', { count: 1, per: 'day' }],
  ['quota', { count: 1, per: 'day', timeZone: 'UTC', anchor: '2026-01-31', warnAt: [1] }],
  ['concurrency', { concurrency: 1 }],
  ['concurrency', { concurrency: 1, expiry: '1s', scope: 'process' }],
  ['load', { load: () => 0 }],
])('the kind is %s for %o', (kind, definition) => {
  expect(kindOf('limits.A', definition).name).toBe(kind);
});

test('an option that is undefined is left out', () => {
  expect(kindOf('limits.A', { concurrency: undefined, per: undefined, expiry: undefined, count: 1 }).name).toBe('rate');
});

test('an option with a wrong value shows its kind all the same, so that the error is about the value', () => {
  expect(kindOf('limits.A', { concurrency: null }).name).toBe('concurrency');
  expect(kindOf('limits.A', { count: 1, per: 7 }).name).toBe('quota');
});

describe('the options of two kinds are an error, which says what to do:', () => {
  test.each<[object, string]>([
    [
      { concurrency: 10, count: 1, period: '1s' },
      '`limits.A.count` must be left out beside `concurrency`: a limit is a concurrency limit or a rate. For both define two limits, and use them in one batch.',
    ],
    [
      { concurrency: 10, burst: 1 },
      '`limits.A.burst` must be left out beside `concurrency`: a limit is a concurrency limit or a rate. For both define two limits, and use them in one batch.',
    ],
    [
      { concurrency: 10, timeZone: 'UTC' },
      '`limits.A.timeZone` must be left out beside `concurrency`: a limit is a concurrency limit or a quota. For both define two limits, and use them in one batch.',
    ],
    [
      { concurrency: 10, per: 'day' },
      '`limits.A.concurrency` must be left out beside `per`: a limit is a quota or a concurrency limit. For both define two limits, and use them in one batch.',
    ],
    [
      { concurrency: 10, load: () => 0 },
      '`limits.A.load` must be left out beside `concurrency`: a limit is a concurrency limit or a load limit. For both define two limits, and use them in one batch.',
    ],
    [
      { load: () => 0, period: '1s' },
      '`limits.A.period` must be left out beside `load`: a limit is a load limit or a rate. For both define two limits, and use them in one batch.',
    ],
    [
      { count: 1, period: '1s', expiry: '10s' },
      '`limits.A.expiry` must be given only with `concurrency`. For a concurrency limit add concurrency: 10; for a rate leave it out.',
    ],
    [
      { count: 1, period: '1s', scope: 'process' },
      '`limits.A.scope` must be given only with `concurrency`. For a concurrency limit add concurrency: 10; for a rate leave it out.',
    ],
    [
      { count: 1, period: '1s', expiry: '5s' },
      '`limits.A.expiry` must be given only with `concurrency`. For a concurrency limit add concurrency: 10; for a rate leave it out.',
    ],
    [
      { count: 1, period: '1s', anchor: '2026-01-31' },
      "`limits.A.anchor` must be given only with `per`. For a quota add per: 'month'; for a rate leave it out.",
    ],
  ])('%o', (definition, message) => {
    const error = thrown(() => kindOf('limits.A', definition));
    expect(error.message).toBe(message);
    expect(error.code).toBe('ERR_LIMIT');
  });
});

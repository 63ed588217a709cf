import { accountId, everyone, type Limits } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { defineLimits } from '../../../src/definitions/define-limits.ts';
import type { Limit } from '../../../src/limits/limit.ts';
import { thrown } from '../../support/thrown.ts';
import { limitOf } from '../../support/limit-of.ts';

const rate = { count: 100, period: '1s' };

function define(definition: object): Limit {
  const limits = { Orders: limitOf({ key: accountId(), ...definition }), Pool: { key: everyone(), ...rate } };
  return defineLimits(limits as Limits, 'local').get('Orders')!;
}

describe('an overshoot', () => {
  test.each([0.001, 0.1, 1])('of %d is part of how the limit is treated', (overshoot) => {
    expect(define({ ...rate, overshoot }).treatment.overshoot).toBe(overshoot);
    expect(define({ ...rate, overshoot, exact: false }).treatment.overshoot).toBe(overshoot);
  });

  test('is left out of a limit that is exact, by default or on purpose', () => {
    for (const numbers of [rate, { count: 9, per: 'day' }, { concurrency: 9 }]) {
      for (const exact of [undefined, true]) {
        expect(define({ ...numbers, exact }).treatment.overshoot).toBeUndefined();
      }
    }
  });

  const number = '`limits.Orders.overshoot` must be a number above 0, at most 1, but was';
  const remedy = 'It is a part of the burst: 0.1 for a tenth. For an exact limit, leave it out.';
  const borrow = { from: 'Pool', ceiling: rate };
  test.each<[object, string, string]>([
    [{ overshoot: 0 }, 'ERR_OPTION', `${number} 0. ${remedy}`],
    [{ overshoot: -0.1 }, 'ERR_OPTION', `${number} -0.1. ${remedy}`],
    [{ overshoot: 1.01 }, 'ERR_OPTION', `${number} 1.01. ${remedy}`],
    [{ overshoot: NaN }, 'ERR_OPTION', `${number} NaN. `],
    [{ overshoot: '10%' }, 'ERR_OPTION', `${number} '10%'. ${remedy}`],
    [{ exact: 1 }, 'ERR_OPTION', '`limits.Orders.exact` must be true or false, but was 1.'],
    [
      { overshoot: 0.1, exact: true },
      'ERR_LIMIT',
      '`limits.Orders` has `overshoot` and `exact`: they contradict each other. Remove one of the two.',
    ],
    [
      { overshoot: 0.1, maxWait: '1s' },
      'ERR_LIMIT',
      '`limits.Orders` has `overshoot` and `maxWait`: the order of its queue is exact. Remove one of the two.',
    ],
    [{ overshoot: 0.1, maxDebt: 5 }, 'ERR_LIMIT', '`limits.Orders` has `overshoot` and `maxDebt`: its debt is exact.'],
    [
      { overshoot: 0.1, borrow },
      'ERR_LIMIT',
      '`limits.Orders.overshoot` must be left out beside `borrow`: what is left of its pool',
    ],
    [
      { overshoot: 0.1, count: 9, period: undefined, per: 'day' },
      'ERR_LIMIT',
      '`limits.Orders.overshoot` must be left out beside `per`: a limit is a quota or a rate.',
    ],
    [
      { overshoot: 0.1, count: undefined, period: undefined, concurrency: 9 },
      'ERR_LIMIT',
      '`limits.Orders.overshoot` must be left out beside `concurrency`: a limit is a concurrency limit or a rate.',
    ],
  ])('is an error in %o', (options, code, message) => {
    const error = thrown(() => define({ ...rate, ...options }));
    expect([error.code, error.message.slice(0, message.length)]).toEqual([code, message]);
  });
});

import { accountId, createLimiter, everyone, ipAddress, type Limiter, type LimiterOptions } from '@sluice/core';
import { concurrency as concurrencyLimit } from '@sluice/core/concurrency';
import { load } from '@sluice/core/load';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { defineLimits } from '../../../src/definitions/define-limits.ts';
import type { Limit } from '../../../src/limits/limit.ts';
import { OldStore } from '../../support/old-store.ts';
import { thrown } from '../../support/thrown.ts';
import { limitOf } from '../../support/limit-of.ts';

const key = accountId();

function define(definition: object): Limit {
  return defineLimits({ InFlight: limitOf({ key, ...definition }) }, 'local').get('InFlight')!;
}

function limiterWith(definition: object, options: object = {}): Limiter {
  const limits = { InFlight: limitOf({ key, ...definition }) };
  return createLimiter({ limits, log: false, time: new FakeTime(), ...options } as unknown as LimiterOptions);
}

/** How many of some calls in a row get a slot. */
async function passed(limiter: Limiter, id: string, calls = 5): Promise<number> {
  const decisions = await Promise.all(
    Array.from({ length: calls }, () => limiter.spend([{ limit: 'InFlight', id }], { hold: true })),
  );
  return decisions.filter(({ allowed }) => allowed).length;
}

describe('a concurrency limit', () => {
  test('has one tick for a slot, and neither periods nor a debt nor a wait', () => {
    const { rate, levels, periods, own, bounds } = define({ concurrency: 10 });
    expect(rate).toEqual({
      burst: 10,
      count: 10,
      periodMs: 0,
      emissionIntervalTicks: 1,
      toleranceTicks: 10,
      maxDebt: undefined,
      waitTicks: undefined,
      kind: { name: 'concurrency', level: 'held', size: 'concurrency', unit: 'concurrent-requests' },
    });
    expect(levels).toMatchObject({ fitTicks: 10, capTicks: 10, lineTicks: undefined });
    expect({ periods, own, bounds }).toEqual({ periods: undefined, own: undefined, bounds: [] });
  });

  test('has an expiry of 10 seconds in the store, unless it says otherwise', () => {
    const defaults = { expiryMs: 10_000, scope: 'store' };
    expect(define({ concurrency: 10 }).treatment.holding).toEqual(defaults);
    const left = { expiry: undefined, scope: undefined };
    expect(define({ concurrency: 10, ...left }).treatment.holding).toEqual(defaults);
    const given = { expiry: '1m', scope: 'process' };
    expect(define({ concurrency: 10, ...given }).treatment.holding).toEqual({ expiryMs: 60_000, scope: 'process' });
  });

  test.each([
    ['1s', 1000],
    ['1000001us', 1001],
    [1000, 1000],
    ['1h', 3_600_000],
  ])('may have an expiry of %s, which is rounded up to milliseconds', (expiry, expiryMs) => {
    expect(define({ concurrency: 10, expiry }).treatment.holding).toMatchObject({ expiryMs });
  });

  test.each([1, 1_000_000])('may have %i slots', (concurrency) => {
    expect(define({ concurrency }).rate.burst).toBe(concurrency);
  });

  test('of everyone() belongs to the fleet: without a slot, the server is too busy', () => {
    expect(define(concurrencyLimit({ key: everyone(), concurrency: 10 })).treatment.sheds).toBe(true);
    expect(define({ concurrency: 10 }).treatment.sheds).toBe(false);
  });

  test('is not decided as a plain transaction', () => {
    expect(define({ concurrency: 10 }).treatment.isPlain).toBe(false);
    expect(define({ count: 10, period: '1s' }).treatment.isPlain).toBe(true);
  });
});

describe('a wrong concurrency limit is an error, which names the option, the demand, the value and the remedy:', () => {
  const concurrency = '`limits.InFlight.concurrency` must be a whole number from 1 to 1000000, but was';
  const slots = 'It is the number of requests in progress, for example concurrency: 10.';
  const expiry = '`limits.InFlight.expiry` must be a duration of whole microseconds from 1s to 1 hour, but was';
  test.each<[object, string, string]>([
    [{ concurrency: 0 }, 'ERR_OPTION', `${concurrency} 0. ${slots}`],
    [{ concurrency: -1 }, 'ERR_OPTION', `${concurrency} -1. ${slots}`],
    [{ concurrency: 1.5 }, 'ERR_OPTION', `${concurrency} 1.5. ${slots}`],
    [{ concurrency: 1_000_001 }, 'ERR_OPTION', `${concurrency} 1000001. ${slots}`],
    [{ concurrency: NaN }, 'ERR_OPTION', `${concurrency} NaN. NaN comes from a calculation`],
    [{ concurrency: Infinity }, 'ERR_OPTION', `${concurrency} Infinity. ${slots}`],
    [{ concurrency: '10' }, 'ERR_OPTION', `${concurrency} '10'. Write concurrency: 10.`],
    [{ concurrency: null }, 'ERR_OPTION', `${concurrency} null. ${slots}`],
    [{ concurrency: undefined }, 'ERR_OPTION', `${concurrency} undefined. ${slots}`],
    [{ concurrency: 10, expiry: '999ms' }, 'ERR_DURATION', `${expiry} '999ms'. For example '1s'`],
    [
      { concurrency: 10, expiry: 999_999_999 },
      'ERR_DURATION',
      `${expiry} 999999999. Write a string with its unit, such as '1s', or`,
    ],
    [{ concurrency: 10, expiry: '61m' }, 'ERR_DURATION', `${expiry} '61m'.`],
    [{ concurrency: 10, expiry: 10 }, 'ERR_DURATION', `${expiry} 10. Write its unit: '10s' for seconds.`],
    [{ concurrency: 10, expiry: null }, 'ERR_DURATION', `${expiry} null.`],
    [{ concurrency: 10, expiry: 'long' }, 'ERR_DURATION', `${expiry} 'long'.`],
    [
      { concurrency: 10, scope: 'proces' },
      'ERR_OPTION',
      "`limits.InFlight.scope` must be 'store' or 'process', but was 'proces'. Write scope: 'process'.",
    ],
    [{ concurrency: 10, scope: 1 }, 'ERR_OPTION', "`limits.InFlight.scope` must be 'store' or 'process', but was 1."],
    [{ concurrency: 10, count: 5 }, 'ERR_LIMIT', '`limits.InFlight.count` must be left out beside `concurrency`'],
  ])('%o', (definition, code, message) => {
    const error = thrown(() => define(definition));
    expect(error.message.slice(0, message.length)).toBe(message);
    expect(error.code).toBe(code);
  });
});

describe('an override of a concurrency limit', () => {
  const overrides = {
    InFlight: { large: { concurrency: 3 }, small: { concurrency: 1 }, own: 'unlimited', spam: 'blocked' },
  };

  test.each([
    ['other', 2],
    ['large', 3],
    ['small', 1],
    ['own', 5],
    ['spam', 0],
  ])('gives the id %s %i slots', async (id, slots) => {
    expect(await passed(limiterWith({ concurrency: 2 }, { overrides }), id)).toBe(slots);
    const fromFunction = (_: string, asked: string): unknown => (overrides.InFlight as Record<string, unknown>)[asked];
    expect(await passed(limiterWith({ concurrency: 2 }, { overrides: fromFunction }), id)).toBe(slots);
    const byPromise = async (limit: string, asked: string): Promise<unknown> => fromFunction(limit, asked);
    expect(await passed(limiterWith({ concurrency: 2 }, { overrides: byPromise }), id)).toBe(slots);
  });

  test('applies with the scope process', async () => {
    expect(await passed(limiterWith({ concurrency: 2, scope: 'process' }, { overrides }), 'large')).toBe(3);
  });

  test('of a network applies to its addresses', async () => {
    const ofNetworks = { InFlight: { '10.0.0.0/8': { concurrency: 4 } } };
    const limiter = limiterWith(concurrencyLimit({ key: ipAddress(), concurrency: 1 }), { overrides: ofNetworks });
    expect(await passed(limiter, '10.1.2.3')).toBe(4);
    expect(await passed(limiter, '203.0.113.7')).toBe(1);
  });

  const alone =
    'must have `concurrency` alone, because the limit is a concurrency limit. For example { concurrency: 20 }.';
  const whole = 'must be a whole number from 1 to 1000000, but was';
  test.each<[string, unknown, string, string]>([
    ['a rate', { count: 1, period: '1s' }, 'ERR_OVERRIDE', `\`overrides.InFlight['7']\` ${alone}`],
    ['a count', { count: 1 }, 'ERR_OVERRIDE', `\`overrides.InFlight['7']\` ${alone}`],
    [
      'a concurrency and a rate',
      { concurrency: 1, count: 1, period: '1s' },
      'ERR_OVERRIDE',
      "`overrides.InFlight['7']` must have `concurrency` alone, because the limit is a concurrency limit. For example { concurrency: 20 }.",
    ],
    ['zero', { concurrency: 0 }, 'ERR_OPTION', `\`overrides.InFlight['7'].concurrency\` ${whole} 0.`],
    ['a fraction', { concurrency: 1.5 }, 'ERR_OPTION', `\`overrides.InFlight['7'].concurrency\` ${whole} 1.5.`],
    [
      'an expiry',
      { concurrency: 1, expiry: '5s' },
      'ERR_UNKNOWN_OPTION',
      "`overrides.InFlight['7']` has no option `expiry` (its value was '5s'). `expiry` belongs to the limit: an override of a concurrency limit changes its `concurrency` alone.",
    ],
  ])('is an error with %s', (_, override, code, message) => {
    const error = thrown(() => limiterWith({ concurrency: 10 }, { overrides: { InFlight: { '7': override } } }));
    expect(error.message.slice(0, message.length)).toBe(message);
    expect(error.code).toBe(code);
  });

  test.each<[string, object, string]>([
    [
      'a rate',
      { count: 1, period: '1s' },
      "must have `count` and `period`, because the limit is a rate. For example { count: 600, period: '180m' }.",
    ],
    [
      'a quota',
      { count: 1, per: 'day' },
      'must have `count` alone, because the limit is a quota. For example { count: 50000 }.',
    ],
    [
      'a load limit',
      load({ load: () => 0, key: undefined }),
      'must have no numbers, because the limit is a load limit. Its overrides are `unlimited` or `blocked`.',
    ],
  ])('by a concurrency is an error for %s', (_, definition, message) => {
    const overridden = { overrides: { InFlight: { '203.0.113.7': { concurrency: 1 } } } };
    const error = thrown(() => limiterWith(definition, overridden));
    expect(error.message).toContain(message);
    expect(error.code).toBe('ERR_OVERRIDE');
  });
});

test.each(['maxConcurrent', 'maxInFlight'])('`%s` of other libraries is an error that names `concurrency`', (name) => {
  expect(thrown(() => define({ [name]: 10 })).message).toContain('is `concurrency` here, e.g. concurrency: 10');
});

describe('a store without slots', () => {
  const store = new OldStore();

  test('is an error when the limiter is made', () => {
    const { code, message } = thrown(() => limiterWith({ concurrency: 10 }, { store }));
    expect(code).toBe('ERR_OPTION');
    expect(message).toContain(
      'must be a store with the trait `slots`, because limit "InFlight" is a concurrency limit, but was OldStore',
    );
  });

  test('can be used by a limit of the process alone', () => {
    expect(() => limiterWith({ concurrency: 10, scope: 'process' }, { store })).not.toThrow();
  });
});

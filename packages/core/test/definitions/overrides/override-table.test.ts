import { createLimiter, ipAddress, ipv6RangeCIDR, by, OverrideList, type OverrideTable } from '@sluice/core';
import { describe, expect, test } from 'vitest';
import { accountLimits, limiterOnFakeTime } from '../../support/limiter-on-fake-time.ts';
import { thrown } from '../../support/thrown.ts';
import { uninspectable } from '../../support/uninspectable.ts';

const numbers = { Orders: { count: 2, period: '1s' }, Reads: { count: 2, period: '1s' } };
const withOverrides = (overrides: unknown) => limiterOnFakeTime(numbers, { overrides: overrides as OverrideTable });

describe('a listed override', () => {
  const overrides = {
    Orders: { 'big-customer': { burst: 5, count: 10, period: '2s' }, 'our-robot': 'unlimited' },
  } as const;

  test('gives its id other numbers, and is reported in the result', () => {
    const { limiter } = withOverrides(overrides);
    const [result] = limiter.spendSync([{ limit: 'Orders', id: 'big-customer' }]).results;
    expect(result).toMatchObject({ remaining: 4, burst: 5, count: 10, periodMs: 2000, overridden: true });
  });

  test('gives no other id and no other limit other numbers', () => {
    const { limiter } = withOverrides(overrides);
    const entries = [
      { limit: 'Orders', id: 'big-customer-2' },
      { limit: 'Reads', id: 'big-customer' },
    ];
    for (const result of limiter.spendSync(entries).results) {
      expect(result).toMatchObject({ remaining: 1, burst: 2, count: 2, periodMs: 1000, overridden: false });
    }
  });

  test('has a burst that is its count unless given', () => {
    const { limiter } = withOverrides({ Orders: { a: { count: 7, period: '1s' } } });
    expect(limiter.checkSync([{ limit: 'Orders', id: 'a' }]).remaining).toBe(7);
  });

  test('lets an unlimited id through, whose transaction is left out of the batch', async () => {
    const { limiter } = withOverrides(overrides);
    const robot = { limit: 'Orders', id: 'our-robot', cost: 1_000_000 };
    expect(limiter.spendSync([robot])).toMatchObject({
      outcome: 'allowed',
      allowed: true,
      limit: null,
      id: null,
      remaining: Infinity,
      retryAfterMs: 0,
      resetAfterMs: 0,
      results: [],
    });
    const { results } = limiter.spendSync([robot, { limit: 'Reads', id: 'our-robot' }, robot]);
    expect(results.map(({ limit }) => limit)).toEqual(['Reads']);
    expect(await limiter.charge([robot])).toEqual([]);
    expect(await limiter.refund([robot])).toEqual([]);
  });

  test('is found by the canonical id of its limit', () => {
    const limiter = createLimiter({
      limits: { PerAddress: { key: ipAddress(), count: 1, period: '1s' } },
      overrides: { PerAddress: { '2001:DB8:0::1': 'unlimited' } },
    });
    expect(limiter.spendSync([{ limit: 'PerAddress', id: '2001:db8::1' }]).limit).toBeNull();
  });

  test('has an id such as __proto__ if that is what it was given', () => {
    const { limiter } = withOverrides(JSON.parse('{ "Orders": { "__proto__": { "count": 9, "period": "1s" } } }'));
    expect(limiter.checkSync([{ limit: 'Orders', id: '__proto__' }]).remaining).toBe(9);
    expect(limiter.checkSync([{ limit: 'Orders', id: 'constructor' }]).remaining).toBe(2);
  });
});

describe('overrides are rejected', () => {
  const ok = { count: 5, period: '1s' };

  test.each([
    ['in a Map', new Map([['7', 'blocked']])],
    ['in an OverrideList for one limit', new OverrideList()],
  ])('%s: they would be ignored', (_, overrides) => {
    const { code, message } = thrown(() => withOverrides({ Orders: overrides }));
    expect(code).toBe('ERR_OVERRIDE');
    expect(message).toMatch(/^`overrides\.Orders` must be an object of numbers by id, but was /);
  });

  test.each<[what: string, overrides: unknown, code: string, message: string]>([
    [
      'that are no object and no function',
      'gold',
      'ERR_OPTION',
      "`overrides` must be an object, an OverrideList or a function, but was 'gold'. For example overrides: { Orders: { '12345678': { count: 600, period: '180m' } } }.",
    ],
    [
      'that are null',
      null,
      'ERR_OPTION',
      "`overrides` must be an object, an OverrideList or a function, but was null. For example overrides: { Orders: { '12345678': { count: 600, period: '180m' } } }.",
    ],
    [
      'of an unknown limit',
      { Order: { a: ok } },
      'ERR_OVERRIDE',
      '`overrides.Order` is not the name of a limit. Overrides are listed by limit, then by id. Limits: Orders, Reads.',
    ],
    [
      'whose table is no object',
      { Orders: ['a'] },
      'ERR_OVERRIDE',
      "`overrides.Orders` must be an object of numbers by id, but was [ 'a' ]. For example { '12345678': { count: 600, period: '180m' } }.",
    ],
    [
      'of something that is no id',
      { Orders: { 'a\n': ok } },
      'ERR_OVERRIDE',
      "`overrides.Orders` lists the id 'a\\n': `id` must be 1 to 256 characters of well-formed Unicode without control characters, but was 'a\\n'. If this id is valid for you, shorten or encode it in the function of the key.",
    ],
    [
      'with something that is no numbers',
      { Orders: { a: 'limitless' } },
      'ERR_OVERRIDE',
      "`overrides.Orders['a']` must be numbers such as { count: 600, period: '180m' }, 'unlimited' or 'blocked', but was 'limitless'.",
    ],
    [
      'without a count',
      { Orders: { a: { burst: 20 } } },
      'ERR_OVERRIDE',
      "`overrides.Orders['a']` must have `count` and `period`, because the limit is a rate. For example { count: 600, period: '180m' }.",
    ],
    [
      'without a period',
      { Orders: { a: { burst: 20, count: 5 } } },
      'ERR_OVERRIDE',
      "`overrides.Orders['a']` must have `count` and `period`, because the limit is a rate. For example { count: 600, period: '180m' }.",
    ],
    [
      'with a number out of range',
      { Orders: { a: { ...ok, burst: 0 } } },
      'ERR_OPTION',
      "`overrides.Orders['a'].burst` must be a whole number from 1 to 1000000000, but was 0. To allow no bursts use burst: 1; for no limit leave the limit out.",
    ],
    [
      'with a field that is none',
      { Orders: { a: { ...ok, key: 1 } } },
      'ERR_UNKNOWN_OPTION',
      "`overrides.Orders['a']` has no option `key` (its value was 1). Options: burst, count, period, maxDebt, maxWait.",
    ],
  ])('%s', (_, overrides, code, message) => {
    expect(thrown(() => withOverrides(overrides))).toMatchObject({ code, message });
  });

  test('with other libraries’ names, naming ours', () => {
    const error = thrown(() => withOverrides({ Orders: { a: { ...ok, points: 5 } } }));
    expect(error.message).toContain('`points` is `count` here');
  });

  test('that list an id in two spellings', () => {
    const limits = {
      PerRange: { key: ipv6RangeCIDR(), count: 1, period: '1s' },
      PerAddress: { key: ipAddress(), ...ok },
    };
    const overrides = { PerAddress: { '2001:db8::1': ok, '2001:DB8::0:1': ok } };
    expect(thrown(() => createLimiter({ limits, overrides }))).toMatchObject({
      code: 'ERR_OVERRIDE',
      message:
        "`overrides.PerAddress` lists the id '2001:db8::1' twice (the second time as '2001:DB8::0:1'). Keep one of the two.",
    });
  });

  test('with the error of the id format as cause', () => {
    expect(thrown(() => withOverrides({ Orders: { '': ok } })).cause).toMatchObject({ code: 'ERR_ID' });
  });

  test('also when the id format throws what can not be inspected', () => {
    const canonical = (): never => {
      throw uninspectable();
    };
    const limits = { Orders: { key: by(undefined, { format: { name: 'own', canonical } }), count: 1, period: '1s' } };
    expect(thrown(() => createLimiter({ limits, overrides: { Orders: { '7': ok } } })).message).toBe(
      "`overrides.Orders` lists the id '7': {}",
    );
  });

  test('before anything is made: the names are still free', () => {
    const { store } = withOverrides({});
    const limits = accountLimits({ Other: { count: 1, period: '1s' } });
    expect(() => createLimiter({ limits, store, overrides: { Otter: {} } })).toThrow('is not the name of a limit');
    expect(() => createLimiter({ limits, store })).not.toThrow();
  });
});

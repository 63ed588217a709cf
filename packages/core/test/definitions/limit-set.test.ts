import { createLimiter, ipAddress, type Override } from '@sluice/core';
import { load, loadFrom } from '@sluice/core/load';
import { describe, expect, test } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { prepareCost } from '../support/fixed-cost.ts';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const numbers = { Orders: { count: 10, period: '1s' }, Reads: { count: 5, period: '1s' } };

describe('a fixed cost', () => {
  const overrides = {
    Orders: { small: { count: 3, period: '1s' }, tiny: { count: 2, period: '1s' }, free: 'unlimited' },
  } as const;

  test('may be as high as the smallest burst of its limit and all listed overrides', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides });
    expect(() => prepareCost(limiter, 'Orders', 2)).not.toThrow();
    expect(() => prepareCost(limiter, 'Reads', 5)).not.toThrow();
    expect(thrown(() => prepareCost(limiter, 'Orders', 3))).toMatchObject({
      code: 'ERR_COST_OVER_BURST',
      status: 500,
      message:
        '`cost` of limit "Orders" must be at most 2, the smallest burst of the limit and its overrides, but was 3. ' +
        'A larger cost could never pass. Raise the burst or lower the cost.',
    });
  });

  test('may be as high as the burst when overrides are only known at run time', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides: () => ({ count: 1, period: '1s' }) });
    expect(() => prepareCost(limiter, 'Orders', 10)).not.toThrow();
    expect(thrown(() => prepareCost(limiter, 'Orders', 11)).code).toBe('ERR_COST_OVER_BURST');
  });

  test('may be anything of a limit that is switched off, until it is switched on', () => {
    const { limiter } = limiterOnFakeTime({ Orders: { count: 1, period: '1s', disabled: true } });
    expect(() => prepareCost(limiter, 'Orders', 2)).not.toThrow();
    const limits = accountLimits({ Orders: { count: 1, period: '1s' } });
    expect(thrown(() => limiter.replace({ limits })).code).toBe('ERR_COST_OVER_BURST');
  });

  test('may be anything of a load limit, which has no burst', () => {
    const limiter = createLimiter({
      limits: { Busy: load({ key: ipAddress(), load: loadFrom(() => 0) }) },
      log: false,
    });
    expect(() => prepareCost(limiter, 'Busy', 1_000_000, 0.5)).not.toThrow();
  });

  test('may be as high as its share of the smallest burst', () => {
    const { limiter } = limiterOnFakeTime({ Orders: { count: 100, period: '7s' }, Reads: numbers.Reads });
    expect(() => prepareCost(limiter, 'Orders', 29, 0.29)).not.toThrow();
    expect(thrown(() => prepareCost(limiter, 'Orders', 30, 0.29)).code).toBe('ERR_COST_OVER_BURST');
    const listed = { Orders: { small: { count: 3, period: '1s' } } };
    const { limiter: overridden } = limiterOnFakeTime(numbers, { overrides: listed });
    expect(() => prepareCost(overridden, 'Orders', 2, 0.8)).not.toThrow();
    expect(thrown(() => prepareCost(overridden, 'Orders', 3, 0.8))).toMatchObject({
      code: 'ERR_COST_OVER_BURST',
      status: 500,
      message:
        '`cost` of limit "Orders" must be at most 2, the whole tokens in a share of 0.8 of the burst, 3, the least of ' +
        'the limit and its overrides, but was 3. A larger cost could never pass. Raise the share or the burst, or lower the cost.',
    });
  });

  test.each<[what: string, override: Override]>([
    ['a slower rate', { burst: 10, count: 1, period: '1s' }],
    ['a shorter maxWait', { burst: 10, count: 10, period: '1s', maxWait: '100ms' }],
  ])('may be as high as its share of the burst and of maxWait of an override with %s', (_, override) => {
    const waiting = { Orders: { ...numbers.Orders, maxWait: '1s' } };
    expect(() => prepareCost(limiterOnFakeTime(waiting).limiter, 'Orders', 10, 0.5)).not.toThrow();
    const large = { count: 100, period: '1s' };
    const listed = { Orders: { free: 'unlimited', other: override, large } } as const;
    const { limiter } = limiterOnFakeTime(waiting, { overrides: listed });
    const spend = (cost: number) => limiter.spendSync([{ limit: 'Orders', id: 'other', cost, share: 0.5 }]);
    expect(spend(5).allowed).toBe(true);
    expect(thrown(() => spend(6)).code).toBe('ERR_COST_OVER_BURST');
    expect(() => prepareCost(limiter, 'Orders', 5, 0.5)).not.toThrow();
    expect(thrown(() => prepareCost(limiter, 'Orders', 6, 0.5))).toMatchObject({
      code: 'ERR_COST_OVER_BURST',
      message: expect.stringContaining(
        'at most 5, the whole tokens in a share of 0.5 of the burst, 10, and of maxWait, ',
      ),
    });
  });

  test('may be as high as its share of the room of a network with an override', () => {
    const limits = { Clients: { key: ipAddress(), count: 10, period: '1s', maxWait: '1s' } };
    const slow = { burst: 10, count: 1, period: '1s' };
    const listed = { Clients: { '192.0.2.0/24': slow, '198.51.100.0/24': 'blocked' } } as const;
    const limiter = createLimiter({ limits, overrides: listed, log: false });
    expect(() => prepareCost(limiter, 'Clients', 5, 0.5)).not.toThrow();
    expect(thrown(() => prepareCost(limiter, 'Clients', 6, 0.5)).code).toBe('ERR_COST_OVER_BURST');
  });

  test('is of a limit that there is', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(thrown(() => prepareCost(limiter, 'Order', 1)).code).toBe('ERR_UNKNOWN_LIMIT');
  });
});

test('an unknown limit is an error that lists those there are', () => {
  const { limiter } = limiterOnFakeTime(numbers);
  expect(thrown(() => limiter.spendSync([{ limit: 'Order', id: '7' }]))).toMatchObject({
    code: 'ERR_UNKNOWN_LIMIT',
    message: "No limit is named 'Order'. Did you mean `Orders`? Limits: Orders, Reads.",
  });
});

test('limits are given by name and in the order of their definition', () => {
  const core = coreOf(limiterOnFakeTime(numbers).limiter);
  expect(core.limitNames).toEqual(['Orders', 'Reads']);
  expect([...core.limits.keys()]).toEqual(['Orders', 'Reads']);
  expect(core.limits.get('Reads')).toMatchObject({ name: 'Reads', rate: { count: 5 } });
});

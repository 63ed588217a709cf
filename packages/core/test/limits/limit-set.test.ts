import { describe, expect, test } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const numbers = { Orders: { count: 10, period: '1s' }, Reads: { count: 5, period: '1s' } };

describe('a fixed cost', () => {
  const overrides = {
    Orders: { small: { count: 3, period: '1s' }, tiny: { count: 2, period: '1s' }, free: 'unlimited' },
  } as const;

  test('may be as high as the smallest burst of its limit and all listed overrides', () => {
    const core = coreOf(limiterOnFakeTime(numbers, { overrides }).limiter);
    expect(() => core.requireLimit('Orders', 2)).not.toThrow();
    expect(() => core.requireLimit('Reads', 5)).not.toThrow();
    expect(thrown(() => core.requireLimit('Orders', 3))).toMatchObject({
      code: 'ERR_COST_OVER_BURST',
      status: 500,
      message:
        '`cost` of limit "Orders" must be at most 2, the smallest burst of the limit and its overrides, but was 3. ' +
        'A larger cost could never pass. Raise the burst or lower the cost.',
    });
  });

  test('may be as high as the burst when overrides are only known at run time', () => {
    const core = coreOf(limiterOnFakeTime(numbers, { overrides: () => ({ count: 1, period: '1s' }) }).limiter);
    expect(() => core.requireLimit('Orders', 10)).not.toThrow();
    expect(thrown(() => core.requireLimit('Orders', 11)).code).toBe('ERR_COST_OVER_BURST');
  });

  test('may be anything of a limit that is switched off, until it is switched on', () => {
    const { limiter } = limiterOnFakeTime({ Orders: { count: 1, period: '1s', disabled: true } });
    expect(() => coreOf(limiter).requireLimit('Orders', 2)).not.toThrow();
    const limits = accountLimits({ Orders: { count: 1, period: '1s' } });
    expect(thrown(() => limiter.replace({ limits })).code).toBe('ERR_COST_OVER_BURST');
  });

  test('may be as high as its share of the smallest burst', () => {
    const core = coreOf(limiterOnFakeTime({ Orders: { count: 100, period: '7s' }, Reads: numbers.Reads }).limiter);
    expect(() => core.requireLimit('Orders', 29, 0.29)).not.toThrow();
    expect(thrown(() => core.requireLimit('Orders', 30, 0.29)).code).toBe('ERR_COST_OVER_BURST');
    const overridden = coreOf(
      limiterOnFakeTime(numbers, { overrides: { Orders: { small: { count: 3, period: '1s' } } } }).limiter,
    );
    expect(() => overridden.requireLimit('Orders', 2, 0.8)).not.toThrow();
    expect(thrown(() => overridden.requireLimit('Orders', 3, 0.8))).toMatchObject({
      code: 'ERR_COST_OVER_BURST',
      status: 500,
      message:
        '`cost` of limit "Orders" must be at most 2, the whole tokens in a share of 0.8 of 3, the smallest burst of the ' +
        'limit and its overrides, but was 3. A larger cost could never pass. Raise the share or the burst, or lower the cost.',
    });
  });

  test('is of a limit that there is', () => {
    const core = coreOf(limiterOnFakeTime(numbers).limiter);
    expect(thrown(() => core.requireLimit('Order', 1)).code).toBe('ERR_UNKNOWN_LIMIT');
  });
});

test('an unknown limit is an error that lists those there are', () => {
  const { limiter } = limiterOnFakeTime(numbers);
  expect(thrown(() => limiter.spend([{ limit: 'Order', id: '7' }]))).toMatchObject({
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

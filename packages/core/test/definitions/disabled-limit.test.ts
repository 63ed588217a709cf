import { describe, expect, test } from 'vitest';
import { accountLimits, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const numbers = { count: 1, period: '1s' };
const orders = [{ limit: 'Orders', id: '7' }];

describe('a limit that is switched off', () => {
  test('is left out of every batch, whatever the cost and the overrides', async () => {
    const limits = { Orders: { ...numbers, disabled: true }, Reads: numbers };
    const { limiter } = limiterOnFakeTime(limits, { overrides: { Orders: { '7': numbers } } });
    const batch = [
      { limit: 'Orders', id: '7', cost: 5 },
      { limit: 'Reads', id: '7' },
    ];
    expect(limiter.spendSync(batch).results).toMatchObject([{ limit: 'Reads' }]);
    expect(limiter.spendSync(orders)).toMatchObject({ outcome: 'allowed', limit: null, results: [] });
    expect(await limiter.charge(orders)).toEqual([]);
  });

  test('does not ask a function for overrides', () => {
    const asked: string[] = [];
    const overrides = (limit: string): undefined => void asked.push(limit);
    const { limiter } = limiterOnFakeTime({ Orders: { ...numbers, disabled: true }, Reads: numbers }, { overrides });
    limiter.checkSync([...orders, { limit: 'Reads', id: '7' }]);
    expect(asked).toEqual(['Reads']);
  });

  test('keeps its buckets until it is enabled again', () => {
    const { limiter } = limiterOnFakeTime({ Orders: numbers });
    const spend = () => limiter.spendSync(orders).allowed;
    const replace = (disabled: boolean) =>
      limiter.replace({ limits: accountLimits({ Orders: { ...numbers, disabled } }) });
    expect([spend(), spend()]).toEqual([true, false]);
    replace(true);
    expect([spend(), spend()]).toEqual([true, true]);
    replace(false);
    expect(spend()).toBe(false);
  });

  test('must still have valid numbers, and true or false for disabled', () => {
    const make = (given: object) => thrown(() => limiterOnFakeTime({ Orders: { ...numbers, ...given } }));
    expect(make({ disabled: true, count: 0 }).code).toBe('ERR_OPTION');
    expect(make({ disabled: 'yes' })).toMatchObject({
      code: 'ERR_OPTION',
      message: "`limits.Orders.disabled` must be true or false, but was 'yes'. Write disabled: true, or leave it out.",
    });
  });
});

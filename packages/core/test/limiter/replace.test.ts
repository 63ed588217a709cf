import { accountId, everyone } from '@sluice/core';
import { borrow as borrowLimit } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import type { Mode } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { prepareCost } from '../support/fixed-cost.ts';
import { keySource } from '../support/key-source.ts';
import { accountLimits, atOnce, limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';
import { thrown } from '../support/thrown.ts';

const numbers = { Orders: { count: 5, period: '1s' }, Reads: { count: 5, period: '1s' } };
const orders = (cost = 1) => [{ limit: 'Orders', id: '7', cost }];
const limits = (burst: number, period = '1s') => accountLimits({ ...numbers, Orders: { burst, count: 5, period } });

describe('replace', () => {
  test('swaps limits and overrides at once', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides: { Orders: { '7': 'unlimited' } } });
    limiter.replace({ limits: accountLimits({ Orders: { count: 9, period: '1s' }, New: { count: 1, period: '1s' } }) });
    expect(limiter.spendSync(orders())).toMatchObject({ limit: 'Orders', remaining: 8 });
    expect(limiter.spendSync([{ limit: 'New', id: '7' }]).remaining).toBe(0);
    expect(thrown(() => limiter.spendSync([{ limit: 'Reads', id: '7' }])).code).toBe('ERR_UNKNOWN_LIMIT');
  });

  test('keeps what buckets owe', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    limiter.spendSync(orders(3));
    limiter.replace({ limits: limits(5) });
    expect(limiter.checkSync(orders(0)).remaining).toBe(2);
  });

  test('of a limit with a raised burst helps at once', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    limiter.spendSync(orders(5));
    limiter.replace({ limits: limits(8) });
    expect(limiter.spendSync(orders(3))).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('of a limit with a raised rate helps at once: the old debt does not go on for its length', () => {
    const { limiter, time } = limiterOnFakeTime({ ...numbers, Orders: { count: 5, period: '24h' } });
    limiter.spendSync(orders(5));
    limiter.replace({ limits: limits(5) });
    expect(limiter.spendSync(orders())).toMatchObject({ allowed: false, retryAfterMs: 200 });
    time.advance(200);
    expect(limiter.spendSync(orders()).allowed).toBe(true);
  });

  test('of a limit with lowered numbers takes effect at once', () => {
    const { limiter, time } = limiterOnFakeTime(numbers);
    limiter.spendSync(orders(2));
    limiter.replace({ limits: limits(2) });
    expect(limiter.spendSync(orders())).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 200 });
    time.advance(200);
    expect(limiter.spendSync(orders()).allowed).toBe(true);
  });

  test('with a raised override helps at once', () => {
    const { limiter, time } = limiterOnFakeTime({ Orders: { count: 1, period: '1h' } });
    const hourly = accountLimits({ Orders: { count: 1, period: '1h' } });
    limiter.spendSync(orders());
    limiter.replace({ limits: hourly, overrides: { Orders: { '7': { burst: 5, count: 5, period: '1s' } } } });
    expect(limiter.spendSync(orders())).toMatchObject({ allowed: false, retryAfterMs: 200 });
    time.advance(200);
    expect(limiter.spendSync(orders()).allowed).toBe(true);
  });

  test('can take away the last override', () => {
    const { limiter } = limiterOnFakeTime(numbers, { overrides: { Orders: { '7': { count: 9, period: '1s' } } } });
    limiter.replace({ limits: accountLimits(numbers) });
    expect(limiter.checkSync(orders(0)).results[0]).toMatchObject({ burst: 5, overridden: false });
  });

  test.each<[what: string, set: unknown, code: string]>([
    ['a wrong limit', { limits: { ...limits(9), Bad: {} } }, 'ERR_KEY'],
    ['a wrong override', { limits: limits(9), overrides: { Other: {} } }, 'ERR_OVERRIDE'],
    ['no limits at all', {}, 'ERR_OPTION'],
    ['nothing', undefined, 'ERR_OPTION'],
    ['null', null, 'ERR_OPTION'],
    ['a typo', { limits: limits(9), override: { Orders: { '7': 'unlimited' } } }, 'ERR_UNKNOWN_OPTION'],
    ['what only createLimiter takes', { limits: limits(9), failure: {} }, 'ERR_UNKNOWN_OPTION'],
  ])('with %s throws and changes nothing', (_, set, code) => {
    const { limiter } = limiterOnFakeTime(numbers);
    expect(thrown(() => limiter.replace(set as never)).code).toBe(code);
    expect(limiter.spendSync(orders()).results[0]?.burst).toBe(5);
    expect(limiter.spendSync([{ limit: 'Reads', id: '7' }]).allowed).toBe(true);
  });

  test('without a limit that a middleware needs throws and changes nothing', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    prepareCost(limiter, 'Orders', 3);
    expect(thrown(() => limiter.replace({ limits: accountLimits({ Reads: numbers.Reads }) }))).toMatchObject({
      code: 'ERR_UNKNOWN_LIMIT',
      message: "No limit is named 'Orders'. Limits: Reads.",
    });
    expect(limiter.spendSync(orders()).allowed).toBe(true);
  });

  test('with a key that finds no id, of a limit that a middleware needs, throws and changes nothing', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    prepareCost(limiter, 'Orders', 1);
    const withoutFunction = { ...limits(9), Orders: { key: accountId(), count: 9, period: '1s' } };
    expect(thrown(() => limiter.replace({ limits: withoutFunction }))).toMatchObject({
      code: 'ERR_KEY',
      message:
        'The key of limit "Orders" has no function, so a middleware can\'t get an id from a request. Give it one, e.g. ' +
        'key: accountId((req) => req.user?.id ?? null), or use the limit only with limiter.spend().',
    });
    const slots = { ...limits(9), Orders: concurrency({ key: accountId(), concurrency: 9 }) };
    expect(thrown(() => limiter.replace({ limits: slots })).message).toContain('only with limiter.spend().');
    expect(coreOf(limiter).limits.get('Orders')?.key.idOf).toBeTypeOf('function');
    expect(limiter.spendSync(orders()).results[0]?.burst).toBe(5);
    const elsewhere = { ...limits(9), Reads: { key: accountId(), count: 9, period: '1s' } };
    limiter.replace({ limits: elsewhere });
    expect(limiter.spendSync(orders()).results[0]?.burst).toBe(9);
  });

  test('with a burst below the highest fixed cost of any middleware throws and changes nothing', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    for (const cost of [1, 3, 2]) prepareCost(limiter, 'Orders', cost);
    expect(thrown(() => limiter.replace({ limits: limits(2) }))).toMatchObject({
      code: 'ERR_COST_OVER_BURST',
      status: 500,
    });
    limiter.replace({ limits: limits(3) });
    expect(limiter.checkSync(orders()).results[0]?.burst).toBe(3);
  });

  test('with a burst of which a fixed share is below a fixed cost throws and changes nothing', () => {
    const { limiter } = limiterOnFakeTime(numbers);
    prepareCost(limiter, 'Orders', 4);
    prepareCost(limiter, 'Orders', 2, 0.4);
    prepareCost(limiter, 'Orders', 1, 0.4);
    expect(thrown(() => limiter.replace({ limits: limits(4) })).message).toContain('share of 0.4 of the burst, 4, ');
    limiter.replace({ limits: limits(6) });
    expect(limiter.checkSync(orders()).results[0]?.burst).toBe(6);
    expect(thrown(() => limiter.replace({ limits: limits(3) })).message).toContain('at most 3, the smallest burst');
  });

  describe('with limits that borrow', () => {
    const borrowing = (disabled = false) => {
      const borrow = { from: 'Pool', ceiling: { count: 5, period: '1s' } } as const;
      const lent = borrowLimit({ key: accountId(() => '7'), count: 2, period: '1s', borrow, disabled });
      return { Orders: lent, Reads: lent, Pool: { key: everyone(), count: 20, period: '1s' } };
    };

    test.each<[what: string, uses: readonly (readonly [string, Mode])[], code: string, message: string]>([
      [
        'of one pool, which a middleware decides together,',
        [
          ['Orders', 'check-and-spend'],
          ['Reads', 'check-and-spend'],
        ],
        'ERR_DUPLICATE_BUCKET',
        'takes from "Pool" twice, for "Orders" and for "Reads"',
      ],
      ['where a middleware uses spend-only', [['Reads', 'spend-only']], 'ERR_OPTION', 'because the limit borrows'],
    ])('%s throws and changes nothing', (_, uses, code, message) => {
      const { limiter } = limiterOnFakeTime(numbers);
      const prepared = coreOf(limiter).prepare(uses.map(([limit, mode]) => ({ limit, mode, cost: 1, share: 1 })));
      const error = thrown(() => limiter.replace({ limits: borrowing() }));
      expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
      expect(atOnce(prepared.resolved().spend(keySource('7')))).toMatchObject({ allowed: true });
      limiter.replace({ limits: borrowing(true) });
      limiter.replace({ limits: limits(9) });
    });

    test('is accepted where each is used by a middleware of its own, and not rejected for one that could not be made', () => {
      const { limiter } = limiterOnFakeTime(numbers);
      const use = (limit: string) => ({ limit, mode: 'check-and-spend' as const, cost: 1, share: 1 });
      coreOf(limiter).prepare([use('Orders')]);
      coreOf(limiter).prepare([{ ...use('Reads'), mode: 'charge' }]);
      limiter.replace({ limits: borrowing() });
      expect(thrown(() => coreOf(limiter).prepare([use('Orders'), use('Reads')])).code).toBe('ERR_DUPLICATE_BUCKET');
      limiter.replace({ limits: borrowing() });
    });
  });

  test('does not affect decisions in progress', async () => {
    let answer: (override: undefined) => void = () => {};
    const { limiter } = limiterOnFakeTime(numbers, { overrides: () => new Promise((give) => (answer = give)) });
    const decision = limiter.spend(orders());
    limiter.replace({ limits: limits(9) });
    answer(undefined);
    expect((await decision).results[0]?.burst).toBe(5);
  });
});

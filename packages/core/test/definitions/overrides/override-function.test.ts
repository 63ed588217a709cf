import { accountId, everyone, type Awaitable, type Override, type OverrideFunction } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { describe, expect, test } from 'vitest';
import { AskedOverrides } from '../../../src/definitions/overrides/override-function.ts';
import type { LimiterEvent } from '../../../src/events/event.ts';
import { AnswerWaits } from '../../../src/time/answer-waits.ts';
import { systemTime } from '../../../src/time/system-time.ts';
import { defineLimits } from '../../../src/definitions/define-limits.ts';
import { CountedTime } from '../../support/counted-time.ts';
import { accountLimits, atOnce, limiterOnFakeTime } from '../../support/limiter-on-fake-time.ts';
import { query } from './query.ts';
import { rejected, thrown } from '../../support/thrown.ts';
import { uninspectable, unshowable } from '../../support/uninspectable.ts';

const numbers = { Orders: { count: 2, period: '1s' } };
const gold = { count: 100, period: '1s' };
const asked = (overrides: unknown) => limiterOnFakeTime(numbers, { overrides: overrides as OverrideFunction });
const entry = [{ limit: 'Orders', id: '7' }];

describe('a function of overrides', () => {
  test('is called with the limit, the canonical id, and undefined where there is no request', async () => {
    const calls: unknown[] = [];
    await asked((...args: unknown[]) => void calls.push(args)).limiter.spend(entry);
    expect(calls).toEqual([['Orders', '7', undefined]]);
  });

  test('gives numbers at once: the limiter answers at once', async () => {
    const decision = await asked(() => gold).limiter.spend(entry);
    expect(decision).toMatchObject({ remaining: 99, results: [{ burst: 100, overridden: true }] });
  });

  test('gives undefined: the limit has its own numbers', async () => {
    const decision = await asked(() => undefined).limiter.spend(entry);
    expect(decision).toMatchObject({ remaining: 1, results: [{ burst: 2, overridden: false }] });
  });

  test("gives 'unlimited': the id is let through", async () => {
    expect((await asked(() => 'unlimited').limiter.spend(entry)).limit).toBeNull();
  });

  test.each<[what: string, answer: (value: Override) => unknown]>([
    ['a promise', (value) => Promise.resolve(value)],
    ['a query, which is no promise but has a then', (value) => query((give) => give(value))],
  ])('gives numbers by %s: the limiter waits for them', async (_, answer) => {
    const { limiter } = asked(() => answer(gold));
    const decision = limiter.spend(entry);
    expect(decision).toBeInstanceOf(Promise);
    expect((await decision).remaining).toBe(99);
    expect((await limiter.charge(entry))[0]?.remaining).toBe(98);
  });

  test('may answer some ids at once and others later: their batch is decided as one', async () => {
    const { limiter } = asked((_limit: string, id: string) => (id === 'slow' ? Promise.resolve(gold) : gold));
    const both = [
      { limit: 'Orders', id: 'slow' },
      { limit: 'Orders', id: 'fast' },
    ];
    expect((await limiter.spend(both)).results.map(({ id, remaining }) => [id, remaining])).toEqual([
      ['slow', 99],
      ['fast', 99],
    ]);
  });

  test('decides what a cost may be: above the burst that it gives is the client’s error', async () => {
    const { limiter } = asked(() => Promise.resolve({ count: 1, period: '1s' }));
    const error = await rejected(() => limiter.spend([{ limit: 'Orders', id: '7', cost: 2 }]));
    expect(error).toMatchObject({ code: 'ERR_COST_OVER_BURST', status: 400 });
  });

  test('does not put off wrong arguments, which throw at once', () => {
    const { limiter } = asked(() => Promise.resolve(gold));
    expect(thrown(() => limiter.spendSync([{ limit: 'Orders', id: '7', cost: -1 }])).code).toBe('ERR_COST');
  });
});

describe('when a function of overrides fails, the limit has its own numbers and there is an event:', () => {
  const failures: [what: string, overrides: () => unknown, message: string][] = [
    [
      'it throws',
      () => {
        throw new Error('no database');
      },
      'Error: no database',
    ],
    [
      'it throws nothing that tells',
      () => {
        throw null;
      },
      'null',
    ],
    ['it rejects', () => Promise.reject(new Error('no row')), 'Error: no row'],
    ['it rejects with a text', () => Promise.reject('no row'), "'no row'"],
    [
      'it gives nonsense',
      () => 'gold',
      "`overrides(Orders)` must be numbers such as { count: 600, period: '180m' }, 'unlimited' or 'blocked', but was 'gold'.",
    ],
    [
      'it gives nonsense later',
      () => Promise.resolve('gold'),
      "`overrides(Orders)` must be numbers such as { count: 600, period: '180m' }, 'unlimited' or 'blocked', but was 'gold'.",
    ],
    [
      'it gives null',
      () => null,
      "`overrides(Orders)` must be numbers such as { count: 600, period: '180m' }, 'unlimited' or 'blocked', but was null.",
    ],
    [
      'it gives a function',
      () => () => gold,
      "`overrides(Orders)` must be numbers such as { count: 600, period: '180m' }, 'unlimited' or 'blocked', but was [Function (anonymous)].",
    ],
    ['it throws what can not be inspected', () => { throw uninspectable(); }, '{}'], // prettier-ignore
    ['it rejects with what can not be inspected', () => Promise.reject(uninspectable()), '{}'],
    ['it throws what can not be shown', () => { throw unshowable(); }, "an object that can't be inspected"], // prettier-ignore
    ['it gives what can not be inspected', () => uninspectable(), 'Error: not for you'],
    [
      'it gives a bigint',
      () => ({ count: 5n, period: '1s' }),
      '`overrides(Orders).count` must be a whole number from 1 to 1000000000, but was 5n. Write count: 5',
    ],
    [
      'a number is out of range',
      () => ({ count: 0, period: '1s' }),
      '`overrides(Orders).count` must be a whole number from 1 to 1000000000, but was 0. To allow no bursts use burst: 1; for no limit leave the limit out.',
    ],
    [
      'a field is unknown',
      () => ({ ...gold, plan: 'gold' }),
      "`overrides(Orders)` has no option `plan` (its value was 'gold'). Options: burst, count, period, maxDebt, maxWait.",
    ],
  ];

  test.each(failures)('%s', async (_, overrides, why) => {
    const { limiter, events } = asked(overrides);
    expect(await limiter.spend(entry)).toMatchObject({ remaining: 1, results: [{ burst: 2, overridden: false }] });
    expect(events).toMatchObject([
      {
        type: 'override-failed',
        limit: 'Orders',
        id: '7',
        message: `The overrides function failed for limit "Orders" (${why.replace(/\.$/, '')}). The limit's own numbers were used.`,
      },
    ]);
    expect(events[0]).toHaveProperty('cause');
  });

  test('it is late, and its late answer is ignored', async () => {
    const time = new CountedTime();
    const events: LimiterEvent[] = [];
    const answers: ((override: Override) => void)[] = [];
    const ask: OverrideFunction = () => new Promise((give) => answers.push(give));
    const limit = defineLimits(accountLimits(numbers), 'local').get('Orders')!;
    const { rateFor } = new AskedOverrides(ask, new AnswerWaits(50, time), (event) => events.push(event));
    const given = rateFor(limit, '7', undefined);
    await time.pass(49);
    expect(events).toEqual([]);
    await time.pass(1);
    for (const answer of answers) answer(gold);
    expect(await given).toBe(limit.rate);
    expect(events).toMatchObject([
      {
        message:
          'The overrides function failed for limit "Orders" (Error: the overrides function did not answer within overridesDeadlineMs). The limit\'s own numbers were used.',
      },
    ]);
  });

  test('and the deadline is overridesDeadlineMs', async () => {
    const { limiter, time, events } = limiterOnFakeTime(numbers, {
      overrides: () => new Promise(() => {}),
      overridesDeadlineMs: 700,
    });
    const decision = limiter.spend(entry);
    time.advance(699);
    expect(events).toEqual([]);
    time.advance(1);
    expect((await decision).remaining).toBe(1);
    expect(events).toHaveLength(1);
  });
});

describe('numbers that a function gives', () => {
  const limit = defineLimits(accountLimits(numbers), 'local').get('Orders')!;
  const rateFor = (ask: (limit: string, id: string) => Awaitable<Override | undefined>) => {
    const overrides = new AskedOverrides(ask, new AnswerWaits(50, systemTime), () => {});
    return (id: string) => atOnce(overrides.rateFor(limit, id, undefined));
  };

  test('are put on the time grid once for each plan', () => {
    const rate = rateFor(() => ({ ...gold }));
    expect(rate('1')).toBe(rate('2'));
  });

  test('are put on the time grid again when the function changes the object that it returns', () => {
    const plan = { count: 1, period: '1s' };
    const rate = rateFor((_, id) => Object.assign(plan, { count: Number(id) }));
    expect(['1', '1', '2', '1'].map((id) => rate(id))).toMatchObject([1, 1, 2, 1].map((count) => ({ count })));
  });

  test('are put on the time grid again when the function changes the slots of the object that it returns', () => {
    const plan = { concurrency: 50 };
    const overrides = new AskedOverrides(
      () => plan,
      new AnswerWaits(50, systemTime),
      () => {},
    );
    const slots = defineLimits({ InFlight: concurrency({ key: accountId(() => null), concurrency: 10 }) }, 'local').get(
      'InFlight',
    )!;
    const burst = (): unknown => atOnce(overrides.rateFor(slots, 'a', undefined));
    expect(burst()).toMatchObject({ burst: 50 });
    plan.concurrency = 2;
    expect(burst()).toMatchObject({ burst: 2 });
  });

  test('are put on the time grid again when the function changes a ceiling of the object that it returns', () => {
    const plan = { count: 1, period: '1s', borrow: { weight: 1, ceiling: { count: 4, period: '1s' } } };
    const overrides = new AskedOverrides(
      () => plan,
      new AnswerWaits(50, systemTime),
      () => {},
    );
    const borrows = defineLimits(
      {
        PerUser: borrow({
          key: accountId(() => null),
          count: 1,
          period: '1s',
          borrow: { from: 'Pool', tenants: 5, ceiling: { count: 2, period: '1s' } },
        }),
        Pool: { key: everyone(), count: 10, period: '1s' },
      },
      'local',
    ).get('PerUser')!;
    const ceiling = (): unknown => atOnce(overrides.rateFor(borrows, 'a', undefined));
    expect(ceiling()).toMatchObject({ borrow: { weight: 1, ceiling: { count: 4 } } });
    expect(ceiling()).toBe(ceiling());
    plan.borrow.ceiling.count = 8;
    expect(ceiling()).toMatchObject({ borrow: { ceiling: { count: 8 } } });
    plan.borrow.weight = 3;
    expect(ceiling()).toMatchObject({ borrow: { weight: 3 } });
  });

  test('are put on the time grid again when the getter of a frozen object gives others', () => {
    const plan = { count: 1, period: '1s' };
    const getting = Object.freeze({
      period: '1s',
      get count(): number {
        return plan.count;
      },
    });
    const rate = rateFor((_, id) => Object.assign(plan, { count: Number(id) }) && getting);
    expect(['1', '2'].map((id) => rate(id))).toMatchObject([{ count: 1 }, { count: 2 }]);
  });

  test('of a frozen object are read once', () => {
    let reads = 0;
    const plan = new Proxy(Object.freeze({ count: 1, period: '1s' }), {
      get: (target, name: 'count') => ((reads += 1), target[name]),
    });
    const rate = rateFor(() => plan);
    const first = rate('a');
    const before = reads;
    expect(rate('b')).toBe(first);
    // Whether it is a promise.
    expect(reads - before).toBe(1);
  });

  test('are those of the object, not of what it would be as JSON', () => {
    const toJSON = (): string => 'a plan';
    const rate = rateFor((_, id) => Object.assign(Object.create({ toJSON }), { count: Number(id), period: '1s' }));
    expect(['1', '2'].map((id) => rate(id))).toMatchObject([{ count: 1 }, { count: 2 }]);
  });

  test('of different plans are different', () => {
    const rate = rateFor((_, id) => ({ count: Number(id), period: '1s' }));
    expect(['1', '2', '1'].map((id) => rate(id))).toMatchObject([{ count: 1 }, { count: 2 }, { count: 1 }]);
  });

  test('that are new each time do not pile up: after a thousand the oldest are made anew', () => {
    const rate = rateFor((_, id) => ({ count: Number(id), period: '1s' }));
    const first = rate('1');
    for (let count = 2; count <= 1000; count++) rate(String(count));
    expect(rate('1')).toBe(first);
    rate('1001');
    expect(rate('1')).not.toBe(first);
    expect(rate('1')).toEqual(first);
  });

  test('are checked even when their JSON looks like that of others', async () => {
    const { limiter, events } = asked((_limit: string, id: string) => ({
      ...gold,
      burst: id === 'a' ? null : Number.NaN,
    }));
    for (const id of ['a', 'b']) expect((await limiter.check([{ limit: 'Orders', id }])).remaining).toBe(2);
    expect(events).toHaveLength(2);
  });
});

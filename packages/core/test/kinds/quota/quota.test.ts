import { accountId, createLimiter, memoryStore, OverrideList } from '@sluice/core';
import { quota as quotaLimit } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { defineLimits } from '../../../src/definitions/define-limits.ts';
import type { Limit } from '../../../src/limits/limit.ts';
import { limiterOnFakeTime } from '../../support/limiter-on-fake-time.ts';
import { OldStore } from '../../support/old-store.ts';
import { rejected, thrown } from '../../support/thrown.ts';
import { limitOf } from '../../support/limit-of.ts';

const key = accountId();
const define = (definition: object): Limit =>
  defineLimits({ Monthly: limitOf({ key, ...definition }) }, 'local').get('Monthly')!;
const quota = { count: 100, per: 'month' };

test('a quota has one tick for a token, and a calendar', () => {
  const { rate, periods, own } = define({ ...quota, timeZone: 'Europe/Berlin', anchor: '2026-01-31' });
  expect(rate).toEqual({
    burst: 100,
    count: 100,
    periodMs: 0,
    emissionIntervalTicks: 1,
    toleranceTicks: 100,
    kind: { name: 'quota', level: 'resets', size: 'count' },
  });
  expect(periods?.of('any').name).toBe('month:31:0:Europe/Berlin');
  expect(own).toEqual([]);
});

test('the thresholds of warnings are sorted, each once', () => {
  expect(define({ ...quota, warnAt: [1, 0.5, 0.8, 0.5] }).own).toEqual([0.5, 0.8, 1]);
});

test.each([
  ['second', 1e6],
  ['minute', 6e7],
  ['hour', 3.6e9],
  ['day', 8.64e10],
  ['week', 6.048e11],
  ['month', 1e12],
  ['year', 1e12],
])('a quota may be per %s, of up to %d tokens', (per, most) => {
  const { periods, rate } = define({ count: most, per });
  expect(periods?.unit).toBe(per);
  expect(rate).toMatchObject({ count: most, toleranceTicks: most });
});

describe('a wrong quota is an error:', () => {
  test.each([
    [
      { count: 0, per: 'month' },
      'ERR_OPTION',
      '`limits.Monthly.count` must be a whole number from 1 to 1000000000000, but was 0. For example count: 10000.',
    ],
    [
      { count: 1e12 + 1, per: 'year' },
      'ERR_OPTION',
      '`limits.Monthly.count` must be a whole number from 1 to 1000000000000, but was 1000000000001. Let a token stand for more, in all costs too.',
    ],
    [
      { count: 5, per: 'months' },
      'ERR_OPTION',
      "`limits.Monthly.per` must be 'second' or 'minute' or 'hour' or 'day' or 'week' or 'month' or 'year'",
    ],
    [{ count: 5, per: 7 }, 'ERR_OPTION', '`limits.Monthly.per` must be'],
    [
      { count: 1_000_001, per: 'second' },
      'ERR_OPTION',
      '`limits.Monthly.count` must be at most 1000000 per second, but was 1000001. For example count: 1000000. ' +
        'For more, let a token stand for more, in all costs too.',
    ],
    [{ count: 60_000_001, per: 'minute' }, 'ERR_OPTION', '`limits.Monthly.count` must be at most 60000000 per minute'],
    [{ count: 3_600_000_001, per: 'hour' }, 'ERR_OPTION', '`limits.Monthly.count` must be at most 3600000000 per hour'],
    [{ count: 86_400_000_001, per: 'day' }, 'ERR_OPTION', '`limits.Monthly.count` must be at most 86400000000 per day'],
    [
      { count: 6.048e11 + 1, per: 'week' },
      'ERR_OPTION',
      '`limits.Monthly.count` must be at most 604800000000 per week',
    ],
    [
      { ...quota, period: '1m' },
      'ERR_LIMIT',
      '`limits.Monthly.period` must be left out beside `per`: a limit is a quota or a rate. For both define two limits',
    ],
    [{ ...quota, burst: 7 }, 'ERR_LIMIT', '`limits.Monthly.burst` must be left out beside `per`'],
    [{ ...quota, maxWait: '2s' }, 'ERR_LIMIT', '`limits.Monthly.maxWait` must be left out beside `per`'],
    [{ ...quota, maxDebt: 5 }, 'ERR_LIMIT', '`limits.Monthly.maxDebt` must be left out beside `per`'],
    [
      { count: 5, period: '1m', timeZone: 'UTC' },
      'ERR_LIMIT',
      "`limits.Monthly.timeZone` is an option of a quota, which is made by a function. Write import { quota } from '@sluice/core/quota'; and quota({ key, count: 5, period: '1m', timeZone: 'UTC' }); or leave it out.",
    ],
    [
      { count: 5, period: '1m', anchor: '2026-01-01' },
      'ERR_LIMIT',
      '`limits.Monthly.anchor` is an option of a quota, which is made by a function.',
    ],
    [
      { count: 5, period: '1m', warnAt: [1] },
      'ERR_LIMIT',
      '`limits.Monthly.warnAt` is an option of a quota, which is made by a function.',
    ],
    [
      { ...quota, timeZone: 'Berlin' },
      'ERR_OPTION',
      '`limits.Monthly.timeZone` must be a time zone of the IANA database',
    ],
    [{ ...quota, anchor: '2026-02-31' }, 'ERR_OPTION', '`limits.Monthly.anchor` must be a date that exists'],
    [{ ...quota, warnAt: 0.8 }, 'ERR_OPTION', '`limits.Monthly.warnAt` must be an array of numbers above 0, at most 1'],
    [{ ...quota, warnAt: [0] }, 'ERR_OPTION', '`limits.Monthly.warnAt` must be'],
    [{ ...quota, warnAt: [1.1] }, 'ERR_OPTION', '`limits.Monthly.warnAt` must be'],
    [{ ...quota, warnAt: ['1'] }, 'ERR_OPTION', '`limits.Monthly.warnAt` must be'],
  ])('%o', (definition, code, message) => {
    const error = thrown(() => define(definition));
    expect(error.code).toBe(code);
    expect(error.message.startsWith(message)).toBe(true);
  });
});

describe('an anchor function', () => {
  const anchors = new Map<string, unknown>([
    ['1', '2026-01-31'],
    ['2', new Date('2026-01-15T00:00Z')],
    ['3', '2026-02-31'],
    ['4', undefined],
    ['5', Promise.resolve('2026-01-01')],
    ['7', new Date(NaN)],
  ]);
  const anchor = (id: string): never => {
    if (id === '6') return Promise.reject(new Error('no database')) as never;
    if (id === '8') throw new Error('no account');
    return anchors.get(id) as never;
  };
  const { limiter } = limiterOnFakeTime({ Monthly: { count: 100, per: 'month', anchor } });
  const spend = (id: string) => limiter.spend([{ limit: 'Monthly', id }]);

  test('gives each id periods of its own', async () => {
    const [one, two] = await Promise.all(['1', '2'].map(spend));
    expect([one?.resetAfterMs, two?.resetAfterMs]).toEqual([30 * 86_400_000, 14 * 86_400_000]);
    expect((await spend('1')).remaining).toBe(98);
  });

  test.each([
    [
      '3',
      "`anchor` of limit \"Monthly\" must be a date that exists, such as '2026-01-31', or a Date, but was '2026-02-31'.",
    ],
    ['4', '`anchor` of limit "Monthly" must be a date that exists'],
    ['5', 'The function `anchor` of limit "Monthly" must return a date, but returned a promise.'],
    ['6', 'The function `anchor` of limit "Monthly" must return a date, but returned a promise.'],
    ['7', '`anchor` of limit "Monthly" must be a date that exists'],
    ['8', 'The function `anchor` of limit "Monthly" threw (Error: no account). Return a date for every id'],
  ])('that does not return a date is an error of the decision: %s', async (id, message) => {
    const error = await rejected(() => spend(id));
    expect(error.code).toBe('ERR_OPTION');
    expect(error.message).toContain(message);
    expect((await rejected(() => limiter.reset([{ limit: 'Monthly', id }]))).code).toBe('ERR_OPTION');
  });

  test('may return more dates than are remembered', () => {
    const start = Date.UTC(2026, 0, 1);
    const { limiter: many } = limiterOnFakeTime({
      Monthly: { count: 100, per: 'month', anchor: (id) => new Date(start + 1000 * Number(id)) },
    });
    for (let id = 0; id <= 10_001; id++) void many.spend([{ limit: 'Monthly', id: String(id) }]);
    expect(many.spendSync([{ limit: 'Monthly', id: '0' }]).remaining).toBe(98);
  });
});

describe('a store without calendar periods', () => {
  const limits = { Monthly: quotaLimit({ key, count: 100, per: 'month' }) } as const;
  const message = 'must be a store with the trait `periods`, because limit "Monthly" is a quota, but was OldStore ';

  test('is an error when the limiter is made', () => {
    const error = thrown(() => createLimiter({ limits, store: new OldStore() }));
    expect(error.code).toBe('ERR_OPTION');
    expect(error.message).toContain(message);
  });

  test('is an error when limits are replaced, and the old limits stay in effect', () => {
    const old = { Often: { key, count: 5, period: '1m' } } as const;
    const limiter = createLimiter({ limits: old, store: new OldStore() });
    expect(thrown(() => limiter.replace({ limits })).message).toContain(message);
    limiter.replace({ limits: old });
  });
});

describe('an override of a quota', () => {
  const spend = (overrides: object, id = '7') => {
    const { limiter } = limiterOnFakeTime({ Monthly: { count: 100, per: 'month' } }, { overrides } as never);
    return limiter.spendSync([{ limit: 'Monthly', id }]);
  };

  test('changes its count', () => {
    const overrides = { Monthly: { '7': { count: 50_000 } } };
    expect(spend(overrides).results[0]).toMatchObject({
      remaining: 49_999,
      count: 50_000,
      burst: 50_000,
      overridden: true,
    });
    expect(spend(overrides, '8').remaining).toBe(99);
    expect(spend((_limit: string, id: string) => overrides.Monthly[id as '7'], '7').remaining).toBe(49_999);
  });

  test('may be unlimited or blocked', () => {
    expect(spend({ Monthly: { '7': 'unlimited' } })).toMatchObject({ allowed: true, limit: null });
    const [blocked] = spend({ Monthly: { '7': 'blocked' } }).results;
    expect(blocked).toMatchObject({ blocked: true, remaining: 0, periodMs: 31 * 86_400_000 });
  });

  test.each([
    { count: 5, period: '1m' },
    { count: 5, burst: 7, period: '1m' },
  ])('that is a rate is an error: %o', (rate) => {
    const error = thrown(() => spend({ Monthly: { '6': { count: 7 }, '7': rate } }));
    expect(error.code).toBe('ERR_OVERRIDE');
    expect(error.message).toBe(
      "`overrides.Monthly['7']` must have `count` alone, because the limit is a quota. For example { count: 50000 }.",
    );
  });

  test('from a function, that is a rate, is an event, and the numbers of the limit apply', () => {
    const rate = { count: 5, period: '1m' } as const;
    const { limiter, events } = limiterOnFakeTime(
      { Monthly: { count: 100, per: 'month' }, Often: { count: 7, period: '1m' } },
      { overrides: () => rate },
    );
    expect(limiter.spendSync([{ limit: 'Often', id: '7' }]).remaining).toBe(4);
    expect(limiter.spendSync([{ limit: 'Monthly', id: '7' }]).remaining).toBe(99);
    expect(events).toMatchObject([{ type: 'override-failed', limit: 'Monthly', cause: { code: 'ERR_OVERRIDE' } }]);
  });

  test.each(['per', 'timeZone', 'anchor', 'warnAt'])('may not change its %s', (name) => {
    const error = thrown(() => spend({ Monthly: { '7': { count: 5, [name]: 'day' } } }));
    expect(error.code).toBe('ERR_UNKNOWN_OPTION');
    expect(error.message).toContain(
      `\`${name}\` belongs to the limit: an override of a quota changes its \`count\` alone.`,
    );
  });

  test('cannot be larger than what a store counts in the period of the limit', () => {
    const create = (listed: Record<string, { count: number }>) =>
      createLimiter({
        limits: { Often: quotaLimit({ key: accountId(), count: 10, per: 'second' }) },
        overrides: { Often: listed },
      });
    expect(spend({ Monthly: { '7': { count: 1e12 } } }).results[0]).toMatchObject({ count: 1e12, remaining: 1e12 - 1 });
    create({ '7': { count: 1_000_000 } });
    expect(thrown(() => create({ '7': { count: 5 }, '8': { count: 2_000_000 } }))).toMatchObject({
      code: 'ERR_OPTION',
      path: "overrides.Often['8'].count",
    });
  });

  test('that is a quota is an error for a rate', () => {
    const overrides = new OverrideList();
    overrides.add('Often', quotaLimit({ key, count: 5, per: 'day' }), '7', { count: 50 });
    const limits = { Often: { key, count: 5, period: '1m' } } as const;
    const error = thrown(() => createLimiter({ limits, overrides }));
    expect(error.code).toBe('ERR_OVERRIDE');
    expect(error.message).toBe(
      "`overrides.Often['7']` must have `count` and `period`, because the limit is a rate. For example { count: 600, period: '180m' }.",
    );
  });
});

test('another calendar has other buckets, and the old calendar has its old buckets again', () => {
  const time = new FakeTime();
  time.setWall(Date.UTC(2026, 6, 15));
  const store = memoryStore({ time });
  const day = { Q: quotaLimit({ key, count: 5, per: 'day' }) } as const;
  const limiter = createLimiter({ limits: day, store, time });
  const used = () => 5 - limiter.spendSync([{ limit: 'Q', id: '7' }]).remaining;
  expect([used(), used()]).toEqual([1, 2]);
  limiter.replace({ limits: { Q: quotaLimit({ key, count: 5, per: 'day', timeZone: 'Europe/Berlin' }) } });
  expect(used()).toBe(1);
  limiter.replace({ limits: { Q: { key, count: 5, period: '30d' } } });
  expect(used()).toBe(1);
  limiter.replace({ limits: { Q: quotaLimit({ key, count: 5, per: 'month' }) } });
  expect(used()).toBe(1);
  limiter.replace({ limits: day });
  expect(used()).toBe(3);
});

import { accountId, type Decision } from '@sluice/core';
import { quota as quotaLimit, type Quota } from '@sluice/core/quota';
import type { Mode } from '@sluice/core/store';
import { describe, expect, test } from 'vitest';
import { prepareCost } from '../../support/fixed-cost.ts';
import { limiterOnFakeTime } from '../../support/limiter-on-fake-time.ts';
import { thrown } from '../../support/thrown.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Noon of the last day of June. */
const JUNE_30 = Date.UTC(2026, 5, 30, 12);
const [AT_END, JULY_MS] = [12 * HOUR_MS, 31 * DAY_MS];

type Numbers = Quota;

function setup(quota: Partial<Numbers> = {}) {
  const made = limiterOnFakeTime({
    Monthly: { count: 3, per: 'month', ...quota },
    Often: { burst: 2, count: 1, period: '1s' },
  });
  made.time.setWall(JUNE_30);
  const spend = (cost = 1, more: { mode?: Mode; share?: number } = {}): Decision =>
    made.limiter.spendSync([{ limit: 'Monthly', id: '7', cost, ...more }]);
  return { ...made, spend };
}

test('a quota counts until the end of the period, and then all tokens come back at once', () => {
  const { spend, time } = setup();
  expect(spend()).toMatchObject({ allowed: true, remaining: 2, retryAfterMs: 0, resetAfterMs: AT_END });
  expect(spend(2)).toMatchObject({ allowed: true, remaining: 0 });
  expect(spend()).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: AT_END, resetAfterMs: AT_END });
  time.advance(AT_END - 1);
  expect(spend()).toMatchObject({ allowed: false, retryAfterMs: 1 });
  time.advance(1);
  expect(spend()).toMatchObject({ allowed: true, remaining: 2, resetAfterMs: JULY_MS });
});

test('its result has the length of the current period', () => {
  const { spend, time } = setup();
  expect(spend().results[0]).toMatchObject({ burst: 3, count: 3, periodMs: 30 * DAY_MS, spent: 1 });
  time.advance(AT_END);
  expect(spend().results[0]).toMatchObject({ periodMs: JULY_MS });
});

test('a blocked id has the length of the running period, though no store is asked', () => {
  const overrides = { Monthly: { '7': 'blocked' as const } };
  const { limiter, time } = limiterOnFakeTime({ Monthly: { count: 3, per: 'month' } }, { overrides });
  time.setWall(JUNE_30);
  const periodMs = () => limiter.spendSync([{ limit: 'Monthly', id: '7' }]).results[0]?.periodMs;
  expect(periodMs()).toBe(30 * DAY_MS);
  time.advance(AT_END);
  expect(periodMs()).toBe(JULY_MS);
});

test('a quota counts in the running period after years without a call', () => {
  const { spend, time } = setup();
  expect(spend(3).allowed).toBe(true);
  for (const wall of [Date.UTC(2101, 0, 31, 12), Date.UTC(2101, 1, 28, 12), Date.UTC(2109, 3, 30, 12)]) {
    time.setWall(wall);
    expect([spend(3), spend()]).toMatchObject([
      { allowed: true, resetAfterMs: AT_END },
      { allowed: false, retryAfterMs: AT_END },
    ]);
  }
});

test('a quota that was not used has no reset', () => {
  const { spend } = setup();
  expect(spend(0)).toMatchObject({ allowed: true, remaining: 3, resetAfterMs: 0, retryAfterMs: 0 });
});

test('a denied request takes nothing, and a smaller one may fit', () => {
  const { spend } = setup();
  spend(2);
  expect(spend(2)).toMatchObject({ allowed: false, remaining: 1, retryAfterMs: AT_END });
  expect(spend(1)).toMatchObject({ allowed: true, remaining: 0 });
});

test('a check takes nothing', () => {
  const { limiter } = setup();
  const check = () => limiter.checkSync([{ limit: 'Monthly', id: '7', cost: 3 }]);
  expect([check(), check()]).toMatchObject([{ allowed: true, remaining: 3 }, { allowed: true }]);
});

test('a share is a part of the count', () => {
  const { spend } = setup({ count: 10 });
  expect(spend(7, { share: 0.8 })).toMatchObject({ allowed: true, remaining: 1 });
  expect(spend(2, { share: 0.8 })).toMatchObject({ allowed: false, remaining: 1, retryAfterMs: AT_END });
  expect(spend(3)).toMatchObject({ allowed: true, remaining: 0 });
});

test('a spend-only takes what fits, and a charge takes what is left', () => {
  const { spend } = setup();
  expect(spend(2, { mode: 'spend-only' }).results[0]).toMatchObject({ spent: 2, remaining: 1 });
  expect(spend(2, { mode: 'spend-only' }).results[0]).toMatchObject({ spent: 0, remaining: 1, allowed: true });
  expect(spend(2, { mode: 'charge' }).results[0]).toMatchObject({ spent: 1, remaining: 0 });
});

describe('the error for a cost that never fits names the count, because a quota has no burst:', () => {
  const message = (call: () => unknown): string => thrown(call).message;

  test('above the count', () => {
    expect(message(() => setup().spend(4))).toBe(
      '`cost` of limit "Monthly" must be at most the count, 3, but was 4. ' +
        'Such a request could never pass, however long it waits. Raise the count or lower the cost.',
    );
  });

  test('above a share of it', () => {
    expect(message(() => setup().spend(3, { share: 0.8 }))).toBe(
      '`cost` of limit "Monthly" must be at most 2, the whole tokens in a share of 0.8 of the count, 3, but was 3. ' +
        'Such a request could never pass, however long it waits. Raise the share or the count, or lower the cost.',
    );
  });

  test('a fixed cost above the smallest count, or a share of it', () => {
    const { limiter } = limiterOnFakeTime(
      { Monthly: { count: 10, per: 'month' } },
      { overrides: { Monthly: { '7': { count: 5 } } } },
    );
    expect(message(() => prepareCost(limiter, 'Monthly', 6))).toBe(
      '`cost` of limit "Monthly" must be at most 5, the smallest count of the limit and its overrides, but was 6. ' +
        'A larger cost could never pass. Raise the count or lower the cost.',
    );
    expect(message(() => prepareCost(limiter, 'Monthly', 5, 0.4))).toBe(
      '`cost` of limit "Monthly" must be at most 2, the whole tokens in a share of 0.4 of the count, 5, the least of ' +
        'the limit and its overrides, but was 5. A larger cost could never pass. Raise the share or the count, or lower the cost.',
    );
  });
});

test('the error for a count of 0 does not suggest a burst', () => {
  expect(thrown(() => setup({ count: 0 })).message).toBe(
    '`limits.Monthly.count` must be a whole number from 1 to 1000000000000, but was 0. ' +
      'For example count: 10000. For no limit leave the limit out.',
  );
});

describe('a correction', () => {
  test('charges the current period', async () => {
    const { limiter } = setup();
    const charge = async () => await limiter.charge([{ limit: 'Monthly', id: '7', cost: 2 }]);
    expect(await charge()).toMatchObject([{ remaining: 1, resetAfterMs: AT_END, periodMs: 30 * DAY_MS, count: 3 }]);
    expect(await charge()).toMatchObject([{ remaining: 0 }]);
  });

  test('refunds a decision once, in its period', async () => {
    const { limiter, spend } = setup();
    const decision = spend(2);
    expect(await limiter.refund(decision)).toMatchObject([{ remaining: 3, resetAfterMs: 0 }]);
    expect(await limiter.refund(decision)).toEqual([]);
    expect(spend(3).allowed).toBe(true);
  });

  test.each([0, DAY_MS, 400 * DAY_MS])(
    'gives nothing back for a decision of a past period, %d ms later',
    async (laterMs) => {
      const { limiter, spend, time } = setup();
      const decision = spend(2);
      time.advance(AT_END + laterMs);
      spend();
      expect(await limiter.refund(decision)).toMatchObject([{ remaining: 2 }]);
    },
  );

  test('gives tokens back to a named bucket, and resets it', async () => {
    const { limiter, spend } = setup();
    spend(3);
    expect(await limiter.refund([{ limit: 'Monthly', id: '7', cost: 1 }])).toMatchObject([{ remaining: 1 }]);
    void limiter.reset([{ limit: 'Monthly', id: '7' }]);
    expect(spend(3).allowed).toBe(true);
  });
});

describe('beside a rate', () => {
  const [often, monthly] = [
    { limit: 'Often', id: '7' },
    { limit: 'Monthly', id: '7' },
  ];
  const both = [often, monthly];

  test('all or nothing is taken', () => {
    const { limiter, time } = setup();
    const spend = () => limiter.spendSync(both);
    expect([spend().allowed, spend().allowed, spend().allowed]).toEqual([true, true, false]);
    expect(limiter.checkSync(both).results.map(({ remaining }) => remaining)).toEqual([0, 1]);
    time.advance(5000);
    expect(spend().allowed).toBe(true);
    expect(spend()).toMatchObject({ allowed: false, limit: 'Monthly' });
    expect(limiter.checkSync(both).results.map(({ remaining }) => remaining)).toEqual([1, 0]);
  });

  test('the limit with the longer wait is the stricter one', () => {
    const { limiter, spend } = setup();
    spend(3);
    void limiter.charge([{ limit: 'Often', id: '7', cost: 2 }]);
    expect(limiter.spendSync(both)).toMatchObject({ limit: 'Monthly', retryAfterMs: AT_END });
    // An hour before the end of the period, the wait of the rate is longer.
    const slow = limiterOnFakeTime({
      Slow: { count: 1, period: '24h' },
      Daily: { count: 1, per: 'day' },
    });
    slow.time.setWall(JUNE_30);
    const twice = ['Slow', 'Daily'].map((limit) => ({ limit, id: '7' }));
    void slow.limiter.spend(twice);
    expect(slow.limiter.spendSync(twice)).toMatchObject({ limit: 'Slow', retryAfterMs: DAY_MS });
  });

  test('of two that allow, the one that is used up is stricter', () => {
    const { limiter, spend } = setup();
    spend(2);
    expect(limiter.spendSync(both)).toMatchObject({ allowed: true, limit: 'Monthly', remaining: 0 });
  });

  test('alternatives are decided in order', () => {
    const { limiter } = setup({ count: 1 });
    const spend = () => limiter.spendSync({ firstOf: [[monthly], [often]] });
    expect([spend().limit, spend().limit, spend().limit]).toEqual(['Monthly', 'Often', 'Often']);
    expect(spend()).toMatchObject({ allowed: false, limit: 'Often', retryAfterMs: 1000 });
    const check = limiter.checkSync({ firstOf: [[monthly], [often]] });
    expect(check).toMatchObject({ allowed: false, limit: 'Often' });
  });
});

describe('when its count changes', () => {
  const limits = (count: number) => limiterOnFakeTime({ Monthly: { count, per: 'month' } });

  test('a raised quota has its additional tokens at once, and no level is cut', () => {
    const { limiter, time } = limits(3);
    time.setWall(JUNE_30);
    const spend = (cost: number) => limiter.spendSync([{ limit: 'Monthly', id: '7', cost }]);
    spend(3);
    limiter.replace({ limits: limitsOf(10) });
    expect(spend(1)).toMatchObject({ allowed: true, remaining: 6 });
    limiter.replace({ limits: limitsOf(2) });
    expect(spend(1)).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: AT_END });
    limiter.replace({ limits: limitsOf(5) });
    expect(spend(1)).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('a rate and the quota that replaces it have buckets of their own, also after a change back', () => {
    const { limiter, time } = limits(1000);
    time.setWall(JUNE_30);
    const spend = (cost: number) => limiter.spendSync([{ limit: 'Monthly', id: '7', cost }]);
    spend(500);
    limiter.replace({ limits: { Monthly: { key: accountId(), count: 1, period: '7d' } } });
    spend(1);
    limiter.replace({ limits: limitsOf(10) });
    // The old level is above the new count, but it is no debt from before a raise.
    expect(spend(1)).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: AT_END });
    limiter.replace({ limits: limitsOf(501) });
    expect(spend(1)).toMatchObject({ allowed: true, remaining: 0 });
  });

  function limitsOf(count: number) {
    return { Monthly: quotaLimit({ key: accountId(), count, per: 'month' }) } as const;
  }
});

test('a clock that steps back into the last period grants nothing', () => {
  const { spend, time } = setup();
  spend(2);
  time.advance(AT_END);
  expect(spend(3)).toMatchObject({ allowed: true, remaining: 0 });
  time.setWall(JUNE_30 + AT_END - 5000);
  expect(spend()).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 5000 });
  time.advance(5000);
  expect(spend()).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: JULY_MS });
});

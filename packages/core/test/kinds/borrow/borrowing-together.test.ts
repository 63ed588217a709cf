import { accountId, createLimiter, everyone, type LimitDefinition } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { thrown } from '../../support/thrown.ts';
import { started } from './borrowing.ts';

describe('limits that borrow, decided together', () => {
  const ceiling = { burst: 5, count: 2, period: '1s' };
  const second = {
    PerOrg: borrow({
      key: accountId(),
      burst: 2,
      count: 1,
      period: '1s',
      borrow: { from: 'Reserve', ceiling, fair: false },
    }),
    Reserve: { key: everyone(), burst: 3, count: 1, period: '1s' },
    Third: borrow({ key: accountId(), burst: 2, count: 1, period: '1s', borrow: { from: 'Fund', ceiling } }),
    Fund: { key: everyone(), burst: 3, count: 1, period: '1s' },
    PerKey: borrow({ key: accountId(), burst: 2, count: 1, period: '1s', borrow: { from: 'Pool', ceiling } }),
  };
  const user = { limit: 'PerUser', id: 'a' };
  const org = { limit: 'PerOrg', id: 'o' };

  function withSecond() {
    const { limits, time } = started();
    const all: Record<string, LimitDefinition> = { ...limits, ...second };
    const limiter = createLimiter({ limits: all, time, log: false });
    const both = () => limiter.spendSync([user, org]);
    return { limiter, time, both };
  }

  test('from two pools: each with own tokens or those of its pool', () => {
    const { limiter, both } = withSecond();
    limiter.spendSync([{ ...org, cost: 2 }]);
    const lent = Array.from({ length: 4 }, () => both().results.map(({ allowed, borrowed }) => allowed && borrowed));
    expect(lent).toEqual([
      [false, true],
      [false, false],
      [false, false],
      [false, false],
    ]);
    expect(both().results.map(({ allowed }) => allowed)).toEqual([true, false]);
  });

  test('from two pools: a refund gives each pool what it lent', () => {
    const { limiter, both } = withSecond();
    limiter.spendSync([{ ...user, cost: 2 }]);
    const decision = both();
    expect(decision.results.map(({ borrowed }) => borrowed)).toEqual([true, false]);
    void limiter.refund(decision);
    const remaining = ['Pool', 'Reserve'].map(
      (limit) => limiter.checkSync([{ limit, id: 'everyone', cost: 0 }]).remaining,
    );
    expect(remaining).toEqual([4, 3]);
  });

  test('may not take from one pool twice, nor beside the pool itself', () => {
    const { limiter } = withSecond();
    const wrong = [
      [user, { limit: 'PerKey', id: 'k' }],
      [user, { limit: 'PerUser', id: 'b' }],
      [user, { limit: 'Pool', id: 'everyone' }],
    ];
    const errors = wrong.map((entries) => thrown(() => limiter.spendSync(entries)));
    expect(errors.map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'ERR_DUPLICATE_BUCKET'));
    expect(errors.map(({ message }) => message)).toEqual([
      'The batch takes from "Pool" twice, for "PerUser" and for "PerKey". Decide them in two calls, or give each limit its own pool.',
      'The batch takes from "Pool" twice, for "PerUser" and for "PerUser". Decide them in two calls, or give each limit its own pool.',
      'The batch names "Pool" itself beside "PerUser", which borrows from it and takes its tokens anyway. Leave out "Pool".',
    ]);
  });

  test('are at most two, and need at most eight buckets together', () => {
    const { limiter } = withSecond();
    const three = thrown(() => limiter.spendSync([user, org, { limit: 'Third', id: 't' }]));
    expect([three.code, three.message]).toEqual(['ERR_OPTION', expect.stringContaining('at most 4 alternatives')]);
    const many = ['1', '2', '3', '4', '5', '6'].map((id) => ({ limit: 'Other', id }));
    expect(thrown(() => limiter.spendSync([user, ...many])).message).toContain('at most 8 buckets');
    expect(limiter.spendSync([user, ...many.slice(1)]).allowed).toBe(true);
  });

  test('may be in firstOf, with at most four alternatives in all', () => {
    const { limiter } = withSecond();
    const spend = (...batches: { limit: string; id: string }[][]) => limiter.spendSync({ firstOf: batches });
    const taken = Array.from(
      { length: 6 },
      () => spend([user], [org]).results.map(({ limit, borrowed }) => [limit, borrowed])[0],
    );
    expect(taken).toEqual([
      ['PerUser', false],
      ['PerUser', false],
      ['PerUser', true],
      ['PerUser', true],
      ['PerUser', true],
      ['PerOrg', false],
    ]);
    expect(spend([user], [{ limit: 'Other', id: 'a' }])).toMatchObject({ allowed: true, limit: 'Other' });
    expect(thrown(() => limiter.spendSync({ firstOf: [[user, org], [org]] })).message).toContain(
      'at most 4 alternatives',
    );
    for (let i = 0; i < 4; i++) spend([user], [org]);
    // The ceiling of PerUser in 0.5 s; PerOrg in a second.
    expect(spend([user], [org])).toMatchObject({ outcome: 'denied', limit: 'PerUser', retryAfterMs: 500 });
  });
});

test('a quota, a share and a limit that borrows in one batch take all or nothing', () => {
  const time = new FakeTime();
  const limits = {
    PerUser: borrow({
      key: accountId(),
      count: 1,
      period: '1h',
      borrow: { from: 'Pool', ceiling: { count: 4, period: '1h' }, fair: false },
    }),
    Pool: { key: everyone(), count: 4, period: '1h' },
    Monthly: quota({ key: accountId(), count: 3, per: 'month' }),
    Fleet: { key: accountId(), count: 4, period: '1h' },
  } as const;
  const limiter = createLimiter({ limits, time, log: false });
  const spend = () =>
    limiter.spendSync([
      { limit: 'Monthly', id: 'a' },
      { limit: 'PerUser', id: 'a' },
      { limit: 'Fleet', id: 'all', share: 0.5 },
    ]);
  const left = () =>
    (['Monthly', 'Fleet', 'Pool'] as const).map(
      (limit) =>
        limiter.checkSync([{ limit, id: limit === 'Pool' ? 'everyone' : limit === 'Fleet' ? 'all' : 'a', cost: 0 }])
          .remaining,
    );
  expect(spend().results.map(({ borrowed }) => borrowed)).toEqual([false, false, false]);
  expect(spend().results.map(({ borrowed }) => borrowed)).toEqual([false, true, false]);
  expect(left()).toEqual([1, 2, 2]);
  expect(spend()).toMatchObject({ outcome: 'denied', limit: 'Fleet' });
  expect(left()).toEqual([1, 2, 2]);
});

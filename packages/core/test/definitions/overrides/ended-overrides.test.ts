import { accountId, createLimiter, everyone, memoryStore, OverrideList } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { FakeTime } from '@sluice/core/testing';
import { until } from '@sluice/core/until';
import { expect, test } from 'vitest';
import { prepareCost } from '../../support/fixed-cost.ts';
import { thrown } from '../../support/thrown.ts';

const LAST = '2027-01-31T23:59:59.999Z';
const ENDED = '2027-02-01T00:00Z';

type Set = Pick<Parameters<typeof createLimiter>[0], 'limits' | 'overrides'>;

function limiterAt(at: string, set: Set) {
  const time = new FakeTime(Date.parse(at));
  return { time, limiter: createLimiter({ ...set, store: memoryStore({ time }), time, log: false }) };
}

const limits = { Requests: { key: accountId(() => 'a'), count: 10, period: '1h' } };
const small = { count: 2, period: '1h' };
const overrides = { Requests: { a: until('2027-01-31', small), b: { count: 5, period: '1h' } } };

test.each([1, 0.5])('a fixed cost fits into %d of the burst of all overrides that have not ended', (share) => {
  const { time, limiter } = limiterAt(LAST, { limits, overrides });
  const prepare = (cost: number) => () => prepareCost(limiter, 'Requests', cost, share);
  expect(prepare(Math.floor(2 * share))).not.toThrow();
  expect(thrown(prepare(Math.floor(5 * share)))).toMatchObject({ code: 'ERR_COST_OVER_BURST' });
  time.advance(1);
  expect(prepare(Math.floor(5 * share))).not.toThrow();
  expect(thrown(prepare(Math.floor(5 * share) + 1))).toMatchObject({ code: 'ERR_COST_OVER_BURST' });
});

test('limiters with one list count its overrides each by its own clock', () => {
  const list = new OverrideList();
  list.add('Requests', limits.Requests, 'a', until('2027-01-31', small));
  const [before, after] = [LAST, ENDED].map((at) => limiterAt(at, { limits, overrides: list }).limiter);
  expect(thrown(() => prepareCost(before!, 'Requests', 10))).toMatchObject({ code: 'ERR_COST_OVER_BURST' });
  expect(() => prepareCost(after!, 'Requests', 10)).not.toThrow();
  limiterAt(LAST, { limits, overrides: list });
  expect(() => prepareCost(after!, 'Requests', 10)).not.toThrow();
});

const PER_USER = { key: accountId(), count: 100, period: '1s' };
const TERMS = { from: 'Pool', ceiling: { count: 400, period: '1s' }, tenants: 5 };

/** A limit that borrows, with two overrides. */
function borrowing(count: number): Set {
  return {
    limits: {
      PerUser: borrow({ ...PER_USER, borrow: TERMS }),
      Pool: { key: everyone(), count: 1000, period: '1s' },
    },
    overrides: {
      PerUser: Object.fromEntries(['a', 'b'].map((id) => [id, until('2027-01-31', { count, period: '1s' })])),
    },
  };
}

test('the rate of a pool need not suffice for overrides that have ended', () => {
  const set = borrowing(300);
  expect(thrown(() => limiterAt(LAST, set)).message).toContain('sum of the rates assured');
  expect(() => limiterAt(ENDED, set)).not.toThrow();
});

test('the numbers of an override that has ended are validated, because a clock may go back', () => {
  const bounded = { Requests: { ...limits.Requests, atMost: { 10: '1h' } } };
  const fast = { Requests: { a: until('2027-01-31', { count: 20, period: '1h' }) } };
  expect(thrown(() => limiterAt(ENDED, { limits: bounded, overrides: fast }))).toMatchObject({ code: 'ERR_LIMIT' });
  expect(thrown(() => limiterAt(ENDED, borrowing(500))).message).toContain('above the ceiling of the limit');
});

import { accountId, createLimiter, everyone, type LimiterEvent } from '@sluice/core';
import { borrow as borrowLimit } from '@sluice/core/borrow';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { limiterOnFakeTime } from '../../support/limiter-on-fake-time.ts';

const JUNE_30 = Date.UTC(2026, 5, 30, 12);
const END = new Date(Date.UTC(2026, 6, 1));
const MONTHLY = { limit: 'Monthly', id: '7' } as const;

function setup(count = 10, warnAt: readonly number[] = [0.8, 1]) {
  const made = limiterOnFakeTime({ Monthly: { count, per: 'month', warnAt }, Often: { count: 9, period: '1s' } });
  made.time.setWall(JUNE_30);
  const warned = (): unknown[] =>
    made.events.splice(0).map((event: LimiterEvent) => event.type === 'quota-warning' && [event.threshold, event.used]);
  const spend = (cost: number, id = '7') => made.limiter.spendSync([{ limit: 'Monthly', id, cost }]);
  return { ...made, spend, warned };
}

test('an event is emitted by the decision that reaches a threshold, and by no other', () => {
  const { spend, events, warned } = setup();
  spend(7);
  expect(warned()).toEqual([]);
  spend(1);
  expect(events).toEqual([
    {
      type: 'quota-warning',
      limit: 'Monthly',
      id: '7',
      used: 8,
      count: 10,
      threshold: 0.8,
      end: END,
      message:
        'An id of limit "Monthly" has used 8 of the 10 tokens of its quota, which reaches the threshold 0.8. ' +
        'The period ends at 2026-07-01T00:00:00.000Z.',
    },
  ]);
  warned();
  spend(1);
  expect(warned()).toEqual([]);
  spend(1);
  expect(warned()).toEqual([[1, 10]]);
  spend(1);
  expect(warned()).toEqual([]);
});

test('one decision may reach several thresholds', () => {
  const { spend, warned } = setup();
  spend(10);
  expect(warned()).toEqual([
    [0.8, 10],
    [1, 10],
  ]);
});

test.each([
  [100, 0.29, 29],
  [3, 0.5, 2],
  [10, 0.001, 1],
  [100, 0.07, 7],
  [1e12, 0.034, 34e9],
  [7, 1, 7],
])('of %d tokens, the threshold %d is reached with token %d', (count, threshold, token) => {
  const { spend, warned } = setup(count, [threshold]);
  if (token > 1) spend(token - 1);
  expect(warned()).toEqual([]);
  spend(1);
  expect(warned()).toEqual([[threshold, token]]);
});

test('a refund does not repeat the warning in the period, and the next period warns again', () => {
  const { spend, warned, limiter, time } = setup();
  const decision = spend(8);
  void limiter.refund(decision);
  spend(8);
  expect(warned()).toEqual([[0.8, 8]]);
  time.setWall(END.getTime());
  spend(8);
  expect(warned()).toEqual([[0.8, 8]]);
});

test('each id has its own warnings, and a raised quota warns again', () => {
  const { spend, warned, limiter } = setup();
  spend(8);
  spend(8, '8');
  expect(warned()).toHaveLength(2);
  limiter.replace({ limits: { Monthly: quota({ key: accountId(), count: 20, per: 'month', warnAt: [0.8] }) } });
  spend(8);
  expect(warned()).toEqual([[0.8, 16]]);
  limiter.replace({ limits: { Monthly: quota({ key: accountId(), count: 20, per: 'month' }) } });
  spend(4);
  expect(warned()).toEqual([]);
});

test('a charge warns too, and on an empty bucket once', () => {
  const { warned, limiter } = setup();
  const charge = (cost: number) => void limiter.charge([{ ...MONTHLY, cost }]);
  charge(8);
  expect(warned()).toEqual([[0.8, 8]]);
  charge(1);
  charge(5);
  expect(warned()).toEqual([[1, 10]]);
  charge(5);
  expect(warned()).toEqual([]);
  limiter.replace({ limits: { Monthly: quota({ key: accountId(), count: 5, per: 'month', warnAt: [1] }) } });
  charge(5);
  expect(warned()).toEqual([]);
});

test('alternatives warn, and a check, a denial and a rate do not', () => {
  const { spend, warned, limiter } = setup();
  void limiter.check([{ ...MONTHLY, cost: 9 }]);
  void limiter.check({ firstOf: [[{ ...MONTHLY, cost: 9 }], [{ limit: 'Often', id: '7' }]] });
  void limiter.spend([{ limit: 'Often', id: '7', cost: 9 }]);
  expect(warned()).toEqual([]);
  void limiter.spend({ firstOf: [[{ limit: 'Often', id: '7' }], [{ ...MONTHLY, cost: 9 }]] });
  expect(warned()).toEqual([[0.8, 9]]);
  spend(2);
  expect(warned()).toEqual([]);
});

test('at most 10,000 warnings are remembered, the latest', () => {
  const { spend, warned, limiter } = setup(1, [1]);
  for (let id = 0; id <= 10_000; id++) spend(1, String(id));
  warned();
  for (const id of ['0', '10000']) {
    void limiter.reset([{ limit: 'Monthly', id }]);
    spend(1, id);
  }
  expect(warned()).toEqual([[1, 1]]);
});

test('a decision with own or borrowed tokens of another limit warns too, and a denied one does not', () => {
  const time = new FakeTime();
  const events: LimiterEvent[] = [];
  const borrow = { from: 'Pool', ceiling: { count: 2, period: '1s' } } as const;
  const limiter = createLimiter({
    limits: {
      Monthly: quota({ key: accountId(), count: 4, per: 'month', warnAt: [0.25, 0.5, 0.75] }),
      PerUser: borrowLimit({ key: accountId(), count: 1, period: '1s', borrow }),
      Pool: { key: everyone(), count: 9, period: '1s' },
    },
    time,
    log: false,
    onEvent: (event) => events.push(event),
  });
  const spend = () => limiter.spendSync([MONTHLY, { limit: 'PerUser', id: '7' }]).results[1];
  expect([spend(), spend(), spend()]).toMatchObject([
    { allowed: true, borrowed: false },
    { allowed: true, borrowed: true },
    { allowed: false },
  ]);
  expect(events).toMatchObject([
    { type: 'quota-warning', threshold: 0.25 },
    { type: 'quota-warning', threshold: 0.5 },
  ]);
});

import {
  accountId,
  compound,
  createLimiter,
  everyone,
  ipAddress,
  memoryStore,
  OverrideList,
  type Override,
} from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { quota as quotaLimit } from '@sluice/core/quota';
import type { StoreCap } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import type { Decided } from '../../src/decision/decided.ts';
import { RaisedLimits } from '../../src/limiter/raised-limits.ts';
import { defineLimitSet, type LimitSet, type LimitSetOptions } from '../../src/definitions/limit-set.ts';
import { StoreCalls } from '../../src/store/store-calls.ts';
import { AnswerWaits } from '../../src/time/answer-waits.ts';
import type { LimitNumbers } from '../../src/rule/rate.ts';

const daily: LimitNumbers = { count: 5, period: '24h' };
const quick: LimitNumbers = { count: 5, period: '1s' };

function defined(set: LimitSetOptions): LimitSet<never> {
  const time = new FakeTime();
  return defineLimitSet(set, {
    onFailure: 'local',
    waits: new AnswerWaits(50, time),
    emit: () => undefined,
    calls: new StoreCalls(time, true),
  }) as LimitSet<never>;
}

/** The limits and overrides as a limiter has them. */
function setOf(numbers: LimitNumbers, overrides: Record<string, Override> = {}, key = accountId()): LimitSet<never> {
  const limits = { Orders: { key, ...numbers } };
  return defined({ limits, overrides: { Orders: overrides } });
}

function setOfNetworks(overrides: Record<string, Override>): LimitSet<never> {
  return setOf(quick, overrides, ipAddress());
}

function setOfParts(overrides: Record<string, Override>): LimitSet<never> {
  return setOf(quick, overrides, compound(accountId(), accountId()));
}

/** What the new numbers decide of buckets that the old numbers have emptied. */
function denialAfter(numbers: LimitNumbers, ...ids: readonly string[]): Decided {
  const store = memoryStore({ time: new FakeTime() });
  const limits = (given: LimitNumbers) => ({ Orders: { key: accountId(), ...given } });
  const limiter = createLimiter({ limits: limits(numbers), store });
  void limiter.charge(ids.map((id) => ({ limit: 'Orders', id, cost: 5 })));
  void limiter.close();
  return createLimiter({ limits: limits(quick), store }).spendSync(
    ids.map((id) => ({ limit: 'Orders', id })),
  ) as Decided;
}

function started() {
  const time = new FakeTime();
  return { time, raised: new RaisedLimits(time) };
}

test('before any change no raise is remembered', () => expect(started().raised.remembersAny()).toBe(false));

describe('a change of a rate or of the longest debt is remembered, also one that a later change may raise', () => {
  const ceilings = (period: string) => ({ from: 'Pool', ceiling: { burst: 50, count: 5, period } }) as const;
  const borrowing = (period: string) =>
    defined({
      limits: {
        Orders: borrow({ key: accountId(), ...quick, borrow: ceilings(period) }),
        Pool: { key: everyone(), count: 500, period: '1s' },
      },
    });
  const listed = new OverrideList();
  listed.add('Orders', { key: accountId() }, 'a', daily);
  const withListed = (numbers: LimitNumbers) =>
    defined({ limits: { Orders: { key: accountId(), ...numbers } }, overrides: listed });
  const quota = defined({ limits: { Orders: quotaLimit({ key: accountId(), count: 5, per: 'day' }) } });
  test.each<[what: string, before: LimitSet<never>, after: LimitSet<never>, remembered: boolean]>([
    ['the same numbers', setOf(daily), setOf(daily), false],
    ['a lowered limit', setOf(quick), setOf(daily), true],
    ['a higher burst', setOf(daily), setOf({ ...daily, burst: 50 }), true],
    ['a maxDebt', setOf(daily), setOf({ ...daily, maxDebt: 5 }), true],
    ['a removed limit', setOf(daily), defined({ limits: { Others: { key: accountId(), ...quick } } }), true],
    ['a quota that is a rate now', quota, setOf(quick), false],
    ['a rate that is a quota now', setOf(daily), quota, true],
    ['the same list of overrides', withListed(daily), withListed(daily), false],
    ['a raise beside the same list of overrides', withListed(daily), withListed(quick), true],
    ['the same ceilings', borrowing('500ms'), borrowing('500ms'), false],
    ['raised ceilings', borrowing('500ms'), borrowing('250ms'), true],
    ['lowered ceilings', borrowing('250ms'), borrowing('500ms'), true],
    // Whether an override of a list is faster is found out by decisions.
    ['other overrides', setOf(quick, { a: quick }), setOf(quick, { a: daily }), true],
  ])('%s', (_, before, after, isRemembered) => {
    const { raised } = started();
    raised.changed(before, after);
    expect(raised.remembersAny()).toBe(isRemembered);
  });
});

describe('a raise is remembered without any denial as long as a debt from the old numbers can last', () => {
  test.each<[what: string, before: LimitSet<never>, after: LimitSet<never>]>([
    ['of a limit', setOf(daily), setOf(quick)],
    ['of an id', setOf(quick, { a: daily }), setOf(quick, { a: quick })],
    ['of an id whose override was removed', setOf(quick, { a: daily }), setOf(quick)],
    ['of an id that got an override', setOf(daily), setOf(daily, { a: quick })],
    ['of a network', setOfNetworks({ '10.0.0.0/8': daily }), setOfNetworks({ '10.0.0.0/8': quick })],
    ['of a network that was removed', setOfNetworks({ '2001:db8::/32': daily }), setOfNetworks({})],
    ['of first parts', setOfParts({ alice: daily }), setOfParts({ alice: quick })],
    ['of first parts that were removed', setOfParts({ alice: daily }), setOfParts({})],
    ['of first parts in others', setOfParts({ alice: daily }), setOfParts({ 'alice:login': quick })],
    ['of a network in another', setOfNetworks({ '10.0.0.0/8': daily }), setOfNetworks({ '10.9.0.0/16': quick })],
  ])('%s', (_, before, after) => {
    const { raised, time } = started();
    raised.changed(before, after);
    time.set(86_400_000 - 0.001);
    expect(raised.remembersAny()).toBe(true);
    time.set(86_400_000);
    expect(raised.remembersAny()).toBe(false);
  });

  test('also when further changes raise nothing', () => {
    const { raised, time } = started();
    raised.changed(setOf(daily), setOf(quick));
    time.set(80_000_000);
    for (let i = 0; i < 10; i++) raised.changed(setOf(quick), setOf(quick));
    expect(raised.remembersAny()).toBe(true);
    time.set(86_400_000);
    expect(raised.remembersAny()).toBe(false);
  });

  test('each for its own time', () => {
    const { raised, time } = started();
    const hourly = { count: 5, period: '1h' };
    raised.changed(setOf(hourly, { a: daily }), setOf(quick, { a: hourly }));
    time.set(50_000_000);
    raised.changed(setOf(quick, { a: hourly }), setOf(quick, { a: quick }));
    time.set(86_399_999);
    expect(raised.remembersAny()).toBe(true);
    time.set(86_400_000);
    expect(raised.remembersAny()).toBe(false);
  });

  test.each<[what: string, numbers: LimitNumbers, override: Override, days: number]>([
    ['a debt of the limit', { count: 1, period: '24h', maxDebt: 3 }, quick, 4],
    [
      'a debt that an override has from its limit',
      { count: 1, period: '1s', maxDebt: 3 },
      { count: 1, period: '24h' },
      4,
    ],
    ['a debt of its own', quick, { count: 1, period: '24h', maxDebt: 3 }, 4],
    ['a queue', { count: 2, period: '12h', maxWait: '1h' }, quick, 13 / 24],
  ])('as long as %s can last', (_, numbers, override, days) => {
    const { raised, time } = started();
    raised.changed(setOf(numbers, { a: override }), setOf(quick));
    time.set(days * 86_400_000 - 1);
    expect(raised.remembersAny()).toBe(true);
    time.set(days * 86_400_000);
    expect(raised.remembersAny()).toBe(false);
  });

  test('for at least a minute', () => {
    const { raised, time } = started();
    raised.changed(setOf(quick), setOf({ count: 50, period: '1s' }));
    time.set(59_999);
    expect(raised.remembersAny()).toBe(true);
    time.set(60_000);
    expect(raised.remembersAny()).toBe(false);
  });
});

test('an id that was raised is forgotten in its own time, at the next change', () => {
  const { raised, time } = started();
  const minutely = { count: 5, period: '1m' };
  raised.changed(setOf(minutely, { a: daily }), setOf(quick, { a: quick, b: quick }));
  time.set(61_000);
  raised.changed(setOf(quick), setOf(quick));
  const asked: string[] = [];
  const cap = (debts: readonly StoreCap[]): void => void asked.push(...debts.map(({ id }) => id));
  const current = setOf(quick, { a: quick });
  for (const id of ['a', 'b']) void raised.cutDebts(denialAfter(minutely, id), current, cap);
  expect(asked).toEqual(['a']);
  time.set(86_399_000);
  raised.changed(setOf(daily), setOf(quick));
  time.set(86_401_000);
  raised.changed(setOf(quick), setOf(quick));
  void raised.cutDebts(denialAfter(minutely, 'a'), current, cap);
  expect(asked).toEqual(['a']);
  void raised.cutDebts(denialAfter(minutely, 'c'), current, cap);
  expect(asked).toEqual(['a', 'c']);
});

test('at most 100,000 cuts are remembered: further debts pass with time, until the first cuts are over', () => {
  const { raised, time } = started();
  raised.changed(setOf(daily), setOf(quick));
  const ids = Array.from({ length: 100_000 }, (_, i) => String(i));
  const asked: number[] = [];
  const cap = (debts: readonly StoreCap[]): void => void asked.push(debts.length);
  expect(raised.cutDebts(denialAfter(daily, ...ids), setOf(quick), cap)).toBe(true);
  expect(raised.cutDebts(denialAfter(daily, 'new'), setOf(quick), cap)).toBe(false);
  time.set(86_400_000);
  raised.changed(setOf(daily), setOf(quick));
  expect(raised.cutDebts(denialAfter(daily, 'new'), setOf(quick), cap)).toBe(true);
  expect(raised.cutDebts(denialAfter(daily, '0'), setOf(quick), cap)).toBe(true);
  expect(asked).toEqual([100_000, 1, 1]);
});

test('a function of overrides has no numbers to remember', () => {
  const { raised } = started();
  const limits = { Orders: { key: accountId(), ...daily } };
  const byFunction = defined({ limits, overrides: () => undefined });
  raised.changed(byFunction, setOf(quick));
  raised.changed(setOf(daily), byFunction);
  expect(raised.remembersAny()).toBe(false);
});

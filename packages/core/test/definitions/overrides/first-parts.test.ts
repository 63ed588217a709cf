import { accountId, compound, createLimiter, ipAddress, memoryStore, type Key, type Override } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { FirstParts, FirstPartsMap } from '../../../src/definitions/overrides/first-parts.ts';
import { thrown } from '../../support/thrown.ts';

const per = (count: number): Override => ({ count, period: '1s' });
const pair = compound(accountId(), accountId());
const triple = compound(accountId(), accountId(), ipAddress());

const limiterOf = (key: Key, overrides: Readonly<Record<string, Override>>) =>
  createLimiter({
    limits: { Requests: { key, count: 1, period: '1s' } },
    overrides: { Requests: overrides },
    store: memoryStore({ time: new FakeTime() }),
  });

/** The burst of each id. */
const bursts = (key: Key, overrides: Readonly<Record<string, Override>>, ids: readonly string[]) => {
  const limiter = limiterOf(key, overrides);
  return ids.map((id) => limiter.checkSync([{ limit: 'Requests', id }]).results[0]?.burst ?? 'unlimited');
};

describe('an override of the first parts of ids', () => {
  test('applies to every id that begins with them, and to no other', () => {
    const ids = ['alice:login', 'alice:a:b', 'alic:e', 'alice2:login', 'bob:alice'];
    expect(bursts(pair, { alice: per(5) }, ids)).toEqual([5, 5, 1, 1, 1]);
  });

  test('is replaced by one of more parts, in any order, and both by an override of the id itself', () => {
    const overrides = { 'a:b': per(3), 'a:b:10.0.0.1': per(4), a: per(2) };
    const ids = ['a:c:10.0.0.1', 'a:b:10.0.0.2', 'a:b:10.0.0.1', 'b:a:10.0.0.1', 'a:b:2001:db8::1'];
    expect(bursts(triple, overrides, ids)).toEqual([2, 3, 4, 1, 3]);
  });

  test('is written as in the ids, where a `:` or a % inside a part is escaped', () => {
    const overrides = { 'a%3Ab': per(5), 'c%25': per(6) };
    expect(bursts(pair, overrides, ['a%3Ab:x', 'a:b:x', 'c%25:x', 'c%:x'])).toEqual([5, 1, 6, 6]);
    const byAddress = compound(ipAddress(), accountId());
    expect(bursts(byAddress, { '2001%3ADB8%3A%3A1': per(5) }, ['2001%3Adb8%3A%3A1:x', '10.0.0.1:x'])).toEqual([5, 1]);
  });

  test('may block all of them, or let all through', () => {
    const limiter = limiterOf(pair, { alice: 'blocked', bob: 'unlimited', 'alice:status': per(3) });
    const of = (id: string) => limiter.checkSync([{ limit: 'Requests', id }]);
    expect(of('alice:login')).toMatchObject({ allowed: false, blocked: true });
    expect(of('alice:status').results[0]?.burst).toBe(3);
    expect(of('bob:login').results).toEqual([]);
  });

  test('counts for each id on its own', () => {
    const limiter = limiterOf(pair, { alice: per(2) });
    const spend = (id: string) => limiter.spendSync([{ limit: 'Requests', id }]).allowed;
    expect(['alice:a', 'alice:a', 'alice:a', 'alice:b'].map(spend)).toEqual([true, true, false, true]);
  });

  test('is not an id', () => {
    const limiter = limiterOf(pair, { alice: per(2) });
    expect(thrown(() => limiter.checkSync([{ limit: 'Requests', id: 'alice' }]))).toMatchObject({ code: 'ERR_ID' });
  });

  test('obeys `atMost` of the limit', () => {
    const limits = { Vendor: { key: pair, count: 5, period: '1h', atMost: { 20: '1h' } } };
    const wrong = () => createLimiter({ limits, overrides: { Vendor: { alice: { count: 11, period: '1h' } } } });
    expect(thrown(wrong).message).toContain("`overrides.Vendor['alice']` must");
  });
});

describe('an override of first parts is rejected', () => {
  test.each<[string, Key, Readonly<Record<string, Override>>, string]>([
    [
      'when a part is not valid',
      compound(ipAddress(), accountId()),
      { alice: per(5) },
      "`overrides.Requests` lists the id 'alice': `id` must be an IPv4 or IPv6 address",
    ],
    [
      'in a second spelling',
      compound(ipAddress(), accountId()),
      { '2001%3Adb8%3A%3A1': per(5), '2001%3ADB8%3A%3A1': per(6) },
      "`overrides.Requests` lists the id '2001%3Adb8%3A%3A1' twice (the second time as '2001%3ADB8%3A%3A1').",
    ],
    [
      'when it is empty',
      pair,
      { '': per(5) },
      "`overrides.Requests` lists the id '': `id` must be 1 to 256 characters",
    ],
  ])('%s', (_, key, overrides, message) => {
    expect(thrown(() => limiterOf(key, overrides))).toMatchObject({
      code: 'ERR_OVERRIDE',
      message: expect.stringContaining(message) as string,
    });
  });
});

const asIs = <Value>(value: Value): Value => value;

test('parts that have fewer than others with a value are found, and those without one are not', () => {
  const map = new FirstPartsMap<string>();
  map.set(new FirstParts('a:b'), 'two');
  expect([map.lookUp('a:', asIs), map.lookUp('a:b:', asIs)]).toEqual([undefined, 'two']);
  map.set(new FirstParts('a'), 'one');
  expect(map.lookUp('a:', asIs)).toBe('one');
});

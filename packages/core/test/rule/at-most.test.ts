import {
  accountId,
  createLimiter,
  everyone,
  ipAddress,
  memoryStore,
  type Rate,
  type LimiterEvent,
  type Override,
} from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';
import { thrown } from '../support/thrown.ts';
import type { LimitNumbers } from '../../src/rule/rate.ts';

type Bounds = NonNullable<Rate['atMost']>;

const HOURLY: LimitNumbers = { burst: 100, count: 900, period: '1h' };

function defined(atMost: Bounds, numbers: LimitNumbers = HOURLY, overrides: Record<string, Override> = {}) {
  return createLimiter({
    limits: { Vendor: { key: accountId(), ...numbers, atMost } },
    overrides: { Vendor: overrides },
  });
}

describe('numbers are accepted up to burst + window / T, and not one token more', () => {
  test.each<[Bounds, LimitNumbers]>([
    [{ 1000: '1h' }, HOURLY],
    [{ 1000: 3_600_000 }, HOURLY],
    [{ 1000: '1h', 115: '1m', 21_700: '1d' }, HOURLY],
    // After 6999 ms, six tokens have come back.
    [{ 7: '6999ms' }, { burst: 1, count: 1, period: '1s' }],
    // T is rounded down to a tick: of 7 per second, 25,200.006 come back in an hour.
    [{ 25_201: '1h' }, { burst: 1, count: 7, period: '1s' }],
    [{ 1000: '1h' }, { burst: 50, count: 900, period: '1h', maxDebt: 50 }],
  ])('%o for %o', (atMost, numbers) => {
    expect(() => defined(atMost, numbers)).not.toThrow();
    for (const [tokens, window] of Object.entries(atMost)) {
      const { code } = thrown(() => defined({ [Number(tokens) - 1]: window }, numbers));
      expect(code).toBe('ERR_LIMIT');
    }
  });

  test('a window includes both its ends: a token that comes back at the last moment counts', () => {
    const one: LimitNumbers = { count: 1, period: '1h' };
    expect(() => defined({ 1: '59m59s' }, one)).not.toThrow();
    expect(thrown(() => defined({ 1: '1h' }, one)).message).toContain('can let 2 through');
  });
});

describe('the error', () => {
  const messageOf = (atMost: Bounds, numbers: LimitNumbers) => thrown(() => defined(atMost, numbers)).message;

  test('shows how many can pass, and a burst and a count that satisfy all bounds', () => {
    expect(messageOf({ 1000: '1h' }, { count: 1000, period: '1h' })).toBe(
      '`limits.Vendor` must let at most 1000 tokens through in any 1h because of `atMost`, but can let 2000 through (1000 at once and 1000 that come back). With this period use, for example, burst: 500, count: 500.',
    );
    expect(messageOf({ 1000: '1h', 20: '1m' }, { ...HOURLY, maxDebt: 5 })).toBe(
      '`limits.Vendor` must let at most 20 tokens through in any 1m because of `atMost`, but can let 120 through (100 at once, 5 of debt and 15 that come back). With this period use, for example, burst: 12, count: 239.',
    );
  });

  test.each<[Bounds, LimitNumbers, string]>([
    [{ 10: '1m' }, { burst: 1000, count: 1, period: '1s' }, "Use, for example, burst: 1, count: 1, period: '7s'."],
    [{ 1: '1h' }, { count: 1, period: '1h' }, "Use, for example, burst: 1, count: 1, period: '3601s'."],
    [{ 4: '1h' }, { count: 5, period: '1s', maxDebt: 3 }, "Use, for example, burst: 1, count: 1, period: '3601s'."],
    [
      { 4: '1h' },
      { count: 5, period: '1s', maxDebt: 4 },
      'Use a higher number of tokens, a shorter window or a lower maxDebt.',
    ],
    [{ 1: '366d' }, { count: 1, period: '1d' }, 'Use a higher number of tokens, a shorter window or a lower maxDebt.'],
  ])('suggests numbers that satisfy %o instead of %o: %s', (atMost, numbers, remedy) => {
    expect(messageOf(atMost, numbers)).toContain(` ${remedy}`);
    const [, burst, count, period] = /burst: (\d+), count: (\d+)(?:, period: '(\d+s)')?/.exec(remedy) ?? [];
    if (burst === undefined) return;
    const better = { ...numbers, burst: Number(burst), count: Number(count), ...(period !== undefined && { period }) };
    expect(() => defined(atMost, better)).not.toThrow();
  });

  test.each([
    [1000, 'but was 1000'],
    [{}, 'but was {}'],
    [{ 0: '1h' }, "but was '0'"],
    [{ 1.5: '1h' }, "but was '1.5'"],
    [{ '1e3': '1h' }, "but was '1e3'"],
    [{ 1000000001: '1h' }, "but was '1000000001'"],
  ])('demands durations by number of tokens: %o', (atMost, was) => {
    const { code, message } = thrown(() => defined(atMost as Bounds));
    expect(code).toBe('ERR_OPTION');
    expect(message).toContain(
      `\`limits.Vendor.atMost\` must be durations by number of tokens, from 1 to 1000000000, ${was}.`,
    );
  });

  test.each(['1x', '0ms', '367d', 60, null])('demands a window that is a duration: %o', (window) => {
    const { code, message } = thrown(() => defined({ 1000: window as string }));
    expect(code).toBe('ERR_DURATION');
    expect(message).toContain('`limits.Vendor.atMost.1000` must be a duration');
  });
});

describe('the numbers of overrides must satisfy the bounds of their limit too', () => {
  test.each<[string, Override]>([
    ['a burst', { burst: 101, count: 900, period: '1h' }],
    ['a rate', { burst: 100, count: 901, period: '1h' }],
    ['a debt', { ...HOURLY, maxDebt: 1 }],
  ])('%s that is too high is an error', (_, override) => {
    const { code, message } = thrown(() => defined({ 1000: '1h' }, HOURLY, { a: HOURLY, b: override }));
    expect(code).toBe('ERR_LIMIT');
    expect(message).toContain("`overrides.Vendor['b']` must let at most 1000 tokens through in any 1h");
  });

  test('with the debt that they inherit', () => {
    const numbers = { burst: 50, count: 900, period: '1h', maxDebt: 50 };
    const slower = { burst: 51, count: 900, period: '1h' };
    expect(() => defined({ 1000: '1h' }, numbers, { a: { ...slower, maxDebt: 49 } })).not.toThrow();
    expect(thrown(() => defined({ 1000: '1h' }, numbers, { a: slower })).message).toContain('50 of debt');
  });

  test('unlimited and blocked ids are accepted', () => {
    expect(() => defined({ 1000: '1h' }, HOURLY, { a: 'unlimited', b: 'blocked' })).not.toThrow();
  });

  test('with the ceiling of a limit that borrows, which counts own and borrowed tokens', () => {
    const pool = { key: everyone(), count: 10_000, period: '1h' };
    const limits = (ceiling: number) => ({
      Pool: pool,
      Vendor: borrow({
        key: accountId(),
        count: 100,
        period: '1h',
        atMost: { 1000: '1h' },
        borrow: { from: 'Pool', ceiling: { burst: 100, count: ceiling, period: '1h' } },
      }),
    });
    const store = memoryStore({ time: new FakeTime() });
    expect(() => createLimiter({ limits: limits(900), store })).not.toThrow();
    const { message } = thrown(() => createLimiter({ limits: limits(901), store: memoryStore() }));
    expect(message).toContain('`limits.Vendor.borrow.ceiling` must let at most 1000 tokens through in any 1h');
  });

  test('also those of a network', () => {
    const limits = { Vendor: { key: ipAddress(), ...HOURLY, atMost: { 1000: '1h' } } };
    const wide = (override: Override) => () =>
      createLimiter({ limits, overrides: { Vendor: { '10.0.0.0/8': override } } });
    expect(wide('unlimited')).not.toThrow();
    expect(wide(HOURLY)).not.toThrow();
    expect(thrown(wide({ count: 901, period: '1h' })).message).toContain("`overrides.Vendor['10.0.0.0/8']` must");
  });

  test('those of a function are ignored: the limit uses its own numbers, and emits an event', () => {
    const events: LimiterEvent[] = [];
    const plans: Record<string, Override> = {
      small: { burst: 50, count: 50, period: '1h' },
      big: { count: 1000, period: '1h' },
      free: 'unlimited',
    };
    const limiter = createLimiter({
      limits: { Vendor: { key: accountId(), ...HOURLY, atMost: { 1000: '1h' } } },
      overrides: (_limit, id) => plans[id],
      store: memoryStore({ time: new FakeTime() }),
      onEvent: (event) => events.push(event),
      log: false,
    });
    const burstOf = (id: string) => limiter.checkSync([{ limit: 'Vendor', id }]).results[0]?.burst;
    expect(['small', 'big', 'free', 'other'].map(burstOf)).toEqual([50, 100, undefined, 100]);
    expect(events).toMatchObject([{ type: 'override-failed', id: 'big' }]);
  });

  test('also after a change: the old limits stay in effect when the new numbers are rejected', () => {
    const limiter = defined({ 1000: '1h' });
    const limits = { Vendor: { key: accountId(), ...HOURLY, count: 901, atMost: { 1000: '1h' } } };
    expect(thrown(() => limiter.replace({ limits })).code).toBe('ERR_LIMIT');
    expect(limiter.checkSync([{ limit: 'Vendor', id: 'a' }]).results[0]?.count).toBe(900);
  });
});

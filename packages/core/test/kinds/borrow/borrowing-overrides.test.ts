import { describe, expect, test } from 'vitest';
import { started } from './borrowing.ts';

describe('the numbers of an override of a limit that borrows', () => {
  const big = { burst: 4, count: 2, period: '1s' };

  test('are assured to its id, below the ceiling of the limit or its own', () => {
    const own = { ...big, borrow: { ceiling: { burst: 9, count: 4, period: '1s' } } };
    const { spend } = started({}, { overrides: { PerUser: { a: big, b: own } } });
    expect(spend('a', { cost: 4 }).results[0]).toMatchObject({ borrowed: false, overridden: true, burst: 4 });
    expect(spend('a').results[0]).toMatchObject({ borrowed: true });
    expect(spend('a').outcome).toBe('denied');
    expect(spend('b', { cost: 4 }).results[0]).toMatchObject({ borrowed: false });
  });

  test('of a function that are above the ceiling raise it', () => {
    const { spend } = started({}, { overrides: () => ({ burst: 9, count: 9, period: '1s' }) });
    expect(spend('a', { cost: 9 }).results[0]).toMatchObject({ allowed: true, borrowed: false });
    expect(spend('a').outcome).toBe('denied');
    const slow = started({}, { overrides: () => ({ burst: 9, count: 1, period: '1s' }) });
    expect(slow.spend('a', { cost: 9 }).results[0]).toMatchObject({ allowed: true, borrowed: false });
  });

  test('of a function may change the ceiling only of a limit that borrows', () => {
    const borrow = { ceiling: { burst: 4, count: 2, period: '1s' } };
    const { limiter, spend, events } = started({}, { overrides: () => ({ ...big, borrow }) });
    spend('a', { cost: 4 });
    expect(spend('a').outcome).toBe('denied');
    expect(events).toEqual([]);
    const waiting = started({}, { overrides: () => ({ ...big, maxWait: '1s' }) });
    waiting.spend();
    expect(waiting.events).toMatchObject([{ type: 'override-failed', message: expect.stringContaining('`maxWait`') }]);
    limiter.spendSync([{ limit: 'Other', id: 'a' }]);
    expect(events).toMatchObject([
      { type: 'override-failed', limit: 'Other', message: expect.stringContaining('borrow') },
    ]);
  });

  test('of a function are validated for each limit, also if another has the same object', () => {
    const waits = { ...big, maxWait: '1s' } as const;
    const borrows = { ...big, borrow: { weight: 2 } };
    const { limiter, spend, events } = started({}, { overrides: (_, id) => (id === 'a' ? waits : borrows) });
    limiter.spendSync([{ limit: 'Other', id: 'a' }]);
    spend('b');
    expect(events).toEqual([]);
    expect(spend('a').results[0]).toMatchObject({ overridden: false, burst: 2 });
    limiter.spendSync([{ limit: 'Other', id: 'b' }]);
    expect(events).toMatchObject([
      { type: 'override-failed', limit: 'PerUser', message: expect.stringContaining('`maxWait`') },
      { type: 'override-failed', limit: 'Other', message: expect.stringContaining('borrow') },
    ]);
  });
});

import { accountId, createLimiter, memoryStore, type Store } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { FakeTime } from '@sluice/core/testing';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { thrown } from '../support/thrown.ts';

describe('a store of a second copy of the package, as bundles and hot reload load it', () => {
  const key = accountId();
  const orders = [{ limit: 'Orders', id: '7' }] as const;
  let guard: object;

  beforeAll(async () => {
    vi.resetModules();
    guard = (await import('@sluice/core/store')).storeGuard;
  });

  /** A limiter on a store that answers later, whose clock is ahead by so much. */
  function limiterOn({ aheadMs = 0, isDown = false }) {
    const time = new FakeTime(Date.UTC(2026, 5, 30));
    const inner = memoryStore({ time: new FakeTime(time.nowMs + aheadMs) });
    const store: Store = {
      guard,
      traits: { periods: true },
      run: async (operation) => {
        if (isDown) throw new Error('down');
        return inner.run(operation);
      },
      close: () => {},
    };
    const rate = { key, count: 5, period: '1h' } as const;
    const limits = {
      Orders: rate,
      Closed: { ...rate, onFailure: 'closed' },
      Monthly: quota({ key, count: 9, per: 'month' }),
    } as const;
    return createLimiter({ limits, store, time, log: false });
  }

  test.each([false, true])('gives decisions that can be refunded, also when it is down: %s', async (isDown) => {
    const limiter = limiterOn({ isDown });
    const decision = await limiter.spend(orders);
    expect(decision).toMatchObject({ remaining: 4, failure: isDown ? { policy: 'local' } : undefined });
    expect(await limiter.refund(decision)).toMatchObject([{ remaining: 5 }]);
  });

  test('lets the policies decide while it is down', async () => {
    const limiter = limiterOn({ isDown: true });
    const decision = await limiter.spend([{ limit: 'Closed', id: '7' }]);
    expect(decision).toMatchObject({ outcome: 'unavailable', failure: { policy: 'closed' } });
    await expect(limiter.refund(decision)).resolves.toEqual([]);
  });

  test('decides quotas by its own clock', async () => {
    const decision = await limiterOn({ aheadMs: 48 * 3_600_000 }).spend([{ limit: 'Monthly', id: '7' }]);
    expect(decision).toMatchObject({ remaining: 8, resetAfterMs: 30 * 24 * 3_600_000 });
  });

  test('is rejected when that copy is of another version, with the places of both', () => {
    const other = { ...guard, version: '0.0.9', place: 'file:///app/node_modules/@sluice/redis/node_modules/' };
    const store: Store = { guard: other, run: () => expect.unreachable(), close: () => {} };
    const { code, message } = thrown(() => createLimiter({ limits: {}, store }));
    expect(code).toBe('ERR_OPTION');
    expect(message).toMatch(
      /^`store.guard` is `storeGuard` of @sluice\/core 0\.0\.9, from file:\/\/\/app\S+, but this is source, from \S+\. /,
    );
    expect(message).toContain('npm ls @sluice/core');
  });
});

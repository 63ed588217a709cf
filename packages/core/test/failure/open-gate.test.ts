import { accountId, createLimiter, memoryStore, type Limiter, type Store } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { describe, expect, test } from 'vitest';

const limits = { Orders: { key: accountId(), count: 3, period: '3s' } };
const ann = [{ limit: 'Orders', id: 'ann' }] as const;

function limiterOn(store: Store): Limiter {
  return createLimiter({ limits, store, log: false });
}

describe('a store that answers at once', async () => {
  test('is called without a deadline and can’t fail, so it is always up', async () => {
    const time = new FakeTime(Date.parse('2026-07-01T12:00:00Z'));
    const limiter = createLimiter({ limits, time, log: false });
    const since = new Date(time.nowMs);
    await limiter.spend(ann);
    time.advance(60_000);
    expect(limiter.status()).toEqual({ state: 'up', since, outages: 0, decidedByPolicy: 0, lastFailure: undefined });
  });

  test('passes on what it throws, because no policy replaces it', async () => {
    const broken = {
      traits: { answersAtOnce: true },
      run: () => {
        throw new TypeError('a bug');
      },
    };
    const store = Object.assign(Object.create(memoryStore()) as Store, broken);
    await expect(limiterOn(store).spend(ann)).rejects.toThrow(new TypeError('a bug'));
  });

  test.each(['spend', 'check', 'charge', 'refund'] as const)(
    'is found out when %s answers with a promise, even one that rejects',
    async (call) => {
      const late = { run: () => Promise.reject(new Error('late')) };
      const limiter = limiterOn(Object.assign(Object.create(memoryStore()) as Store, late));
      await expect(limiter[call](ann)).rejects.toThrow(
        expect.objectContaining({
          code: 'ERR_STORE_ANSWER',
          message:
            'The store has the trait `answersAtOnce`, but returned a promise. Remove `answersAtOnce` from its `traits`, and add ' +
            "`readonly guard = storeGuard`, with import { storeGuard } from '@sluice/core/store'.",
        }) as Error,
      );
    },
  );

  test('that was given stays open when the limiter is closed, once or twice', async () => {
    const store = memoryStore();
    const limiter = limiterOn(store);
    await limiter.close();
    await limiter.close();
    expect(store.stats().size).toBe(0);
  });

  test('that the limiter made is closed with it', async () => {
    const limiter = createLimiter({ limits, log: false });
    await limiter.close();
    expect(() => (limiter.store as ReturnType<typeof memoryStore>).stats()).toThrow('closed');
  });

  test.each(['spend', 'check', 'charge', 'refund', 'reset'] as const)(
    'is not called to %s by a closed limiter',
    async (call) => {
      const limiter = limiterOn(memoryStore());
      await limiter.close();
      await expect(limiter[call](ann)).rejects.toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }) as Error);
    },
  );

  test('gives nothing back for a decision after the limiter was closed', async () => {
    const limiter = limiterOn(memoryStore());
    const decision = await limiter.spend(ann);
    await limiter.close();
    await expect(limiter.refund(decision)).rejects.toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }) as Error);
  });
});

import { accountId, createLimiter, type Store } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canShift } from '../../redis/servers/shifted-server.ts';

const key = accountId();
const limits = {
  Short: { key, count: 10, period: '10s' },
  Decade: { key, burst: 10, count: 1, period: '365d' },
  Years: quota({ key, count: 20, per: 'year' }),
} as const;

function limiterIn(store: Store) {
  onTestFinished(() => store.close());
  return createLimiter({ limits, store, log: false, failure: { deadlineMs: 5000, onFailure: 'closed' } });
}

async function use(limiter: ReturnType<typeof limiterIn>, limit: keyof typeof limits): Promise<string> {
  await limiter.spend([{ limit, id: 'a', cost: 10 }]);
  const { failure, outcome } = await limiter.spend([{ limit, id: 'a' }]);
  return failure === undefined ? outcome : (failure.cause as Error).message;
}

/** @param storeIn - Makes a store on a server whose clock reads a year. */
export function keepsWordOnFarClocks(storeIn: (year: number) => Promise<Store>): void {
  describe.skipIf(!canShift)('a server whose clock is ahead by years', () => {
    test('in 2030 decides all limits', async () => {
      const limiter = limiterIn(await storeIn(2030));
      await limiter.ready();
      expect([await use(limiter, 'Decade'), await use(limiter, 'Years')]).toEqual(['denied', 'allowed']);
    });

    test('in 2035 decides what is full again by November 2043, and names the clock for what is not', async () => {
      const limiter = limiterIn(await storeIn(2035));
      await limiter.ready();
      expect([await use(limiter, 'Short'), await use(limiter, 'Years')]).toEqual(['denied', 'allowed']);
      expect(await use(limiter, 'Decade')).toMatch(/The clock of the server reads 2035-07-01T.*until November 2043/);
    });

    test('in 2044 is never ready, and the error names the clock', async () => {
      const limiter = limiterIn(await storeIn(2044));
      await expect(limiter.ready({ timeoutMs: 2000 })).rejects.toThrow(/The clock of the server reads 2044-07-01T/);
    });
  });
}

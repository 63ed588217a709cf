import { accountId, memoryStore, type Store } from '@sluice/core';
import { createDataLimiter } from '@sluice/core/kit';
import { storeGuard } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { decideUses } from '../src/deciding/decide-uses.ts';
import type { RequestUse } from '../src/deciding/use.ts';

const USE: RequestUse = { limit: 'Orders', id: '1', cost: 1, kind: 'spend', shadow: false };

/** @param late - Whether the store takes a turn for each answer. */
function limiterOn({ late }: { readonly late: boolean }) {
  const time = new FakeTime(0);
  const memory = memoryStore({ time });
  const store: Store = late
    ? {
        guard: storeGuard,
        run: async (operation) => memory.run(operation),
        close: () => memory.close(),
        traits: { periods: true },
      }
    : memory;
  return createDataLimiter({ limits: { Orders: { key: accountId(), count: 2, period: '1m' } }, store, time });
}

test.each([false, true])('what only spends is decided at once, unless the store is late: %s', async (late) => {
  const limiter = limiterOn({ late });
  const decided = decideUses(limiter, [USE]);
  expect(decided instanceof Promise).toBe(late);
  expect((await decided).decision).toMatchObject({ allowed: true, remaining: 1 });
  expect((await decideUses(limiter, [{ ...USE, cost: 2 }])).decision).toMatchObject({ allowed: false, remaining: 1 });
  const never = (await decideUses(limiter, [{ ...USE, cost: 3 }])).decision;
  expect(JSON.parse(JSON.stringify(never))).toMatchObject({ outcome: 'denied', blocked: false, retryAfterMs: null });
  expect(await decideUses(limiter, [])).toMatchObject({ decision: null });
});

test('an error of a decision at once is thrown, or rejects what else there is', async () => {
  const limiter = limiterOn({ late: false });
  await limiter.close();
  expect(() => decideUses(limiter, [USE])).toThrow('The limiter is closed');
  await expect(decideUses(limiter, [USE, { ...USE, kind: 'check' }])).rejects.toThrow('The limiter is closed');
});

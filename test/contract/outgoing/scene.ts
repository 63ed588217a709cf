import { createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createScheduler } from '@sluice/core/scheduler';
import { expect } from 'vitest';
import type { Provider } from './provider.ts';

/** Tokens that do not come back while a test runs. */
const TOKENS = 1000;
const key = everyone();
const id = 'everyone';

/** A limiter whose tokens and slots a test counts. */
export function scene({ slots = 2 } = {}) {
  const limiter = createLimiter({
    limits: {
      Calls: { key, burst: TOKENS, count: 1, period: '1h' },
      InFlight: concurrency({ key, concurrency: slots }),
    },
    log: false,
  });
  const scheduler = createScheduler(limiter);
  const taken = async (): Promise<number> =>
    TOKENS - ((await limiter.check([{ limit: 'Calls', id, cost: 0 }])).remaining ?? NaN);
  const freeSlots = async (): Promise<number | undefined> =>
    (await limiter.check([{ limit: 'InFlight', id, cost: 0 }])).remaining;
  /** Demands that nothing waits or runs, no slot is taken, and each call that the provider saw has taken a token. */
  const expectBalanced = async (provider: Provider): Promise<void> => {
    await expect.poll(() => scheduler.running).toBe(0);
    expect({ waiting: scheduler.size, taken: await taken(), slots: await freeSlots() }).toEqual({
      waiting: 0,
      taken: provider.calls,
      slots,
    });
  };
  return { limiter, scheduler, taken, freeSlots, expectBalanced };
}

/** A scheduler of a fast limit, which shows what it has learnt. */
export function learner() {
  const limits = { Api: { key, burst: 10, count: 1000, period: '1s' } } as const;
  return createScheduler(createLimiter({ limits, log: false }));
}

import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { redisStore } from '@sluice/redis';

export const store = redisStore({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' });

export const limiter = createLimiter({
  limits: {
    // Less than the provider allows: calls take different times on their way to it, and may arrive together.
    Calls: { key: everyone(), burst: 5, count: 19, period: '1s' },
  },
  store,
  // While Redis can't answer, calls wait. The deadline is for a busy machine, on which all processes run.
  failure: { deadlineMs: 2000, onFailure: 'closed' },
});

/** In each process: all share the limits in Redis. */
export const scheduler = createScheduler(limiter);

import {
  accountId,
  createLimiter,
  everyone,
  memoryStore,
  type LimiterEvent,
  type LimiterOptions,
  type Rate,
  type SpendEntry,
} from '@sluice/core';
import { borrow as borrowLimit, type Borrow } from '@sluice/core/borrow';
import { callsOf, FakeTime } from '@sluice/core/testing';
import type { LimitSettings } from '../../../src/limits/limit-settings.ts';

type Numbers = Partial<Omit<LimitSettings & Rate, 'borrow'>> & { readonly borrow?: Partial<Borrow> };

/** 2 tokens are assured, one comes back each second; the pool has 6, four come back each second; nobody gets above 5. */
export function started({ borrow, ...numbers }: Numbers = {}, options: Partial<LimiterOptions> = {}) {
  const time = new FakeTime();
  const store = memoryStore({ time });
  const events: LimiterEvent[] = [];
  const ceiling = { burst: 5, count: 2, period: '1s' };
  const perUser = { key: accountId(), burst: 2, count: 1, period: '1s', ...numbers };
  const limits = {
    PerUser: borrowLimit({ ...perUser, borrow: { from: 'Pool', ceiling, fair: false, ...borrow } }),
    Pool: { key: everyone(), burst: 6, count: 4, period: '1s' },
    Other: { key: accountId(), count: 3, period: '1h' },
  };
  const limiter = createLimiter({
    limits,
    store,
    time,
    log: false,
    onEvent: (event) => events.push(event),
    ...options,
  });
  const spend = (id = 'a', more: Partial<SpendEntry> = {}) => limiter.spendSync([{ limit: 'PerUser', id, ...more }]);
  const left = (limit: string, id: string): number => {
    const name = limit as 'Pool';
    return limiter.checkSync([{ limit: name, id, cost: 0 }]).remaining;
  };
  const pool = (): number => left('Pool', 'everyone');
  const levels = (id = 'a') => {
    const [own = 0, ceilingLevel = 0, poolLevel = 0] = callsOf(store).check(
      [
        { limit: 'PerUser', id },
        { limit: 'PerUser.ceiling', id },
        { limit: 'Pool', id: 'everyone' },
      ].map((bucket) => ({ ...bucket, incrementTicks: 0, fitTicks: 0, capTicks: 0, mode: 'check-only' as const })),
    ).levelsTicks;
    // In tokens: T is 1 s, 0.5 s and 0.25 s.
    return { own: own / 16e6, ceiling: ceilingLevel / 8e6, pool: poolLevel / 4e6 };
  };
  return { limiter, time, store, events, limits, spend, left, pool, levels };
}

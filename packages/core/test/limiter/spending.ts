import type { Decision, SpendEntry } from '@sluice/core';
import { limiterOnFakeTime } from '../support/limiter-on-fake-time.ts';

export const numbers = { Orders: { burst: 10, count: 1, period: '1s' }, Reads: { burst: 10, count: 1, period: '1s' } };

export const order = (cost: number, more: Partial<SpendEntry> = {}): SpendEntry => ({
  limit: 'Orders',
  id: '7',
  cost,
  ...more,
});

export function started() {
  const made = limiterOnFakeTime(numbers);
  const spend = (...entries: SpendEntry[]): Decision => made.limiter.spendSync(entries);
  const remaining = (limit = 'Orders'): number => made.limiter.checkSync([{ limit, id: '7', cost: 0 }]).remaining;
  const refund = async (decision: Decision) => await made.limiter.refund(decision);
  return { ...made, spend, refund, remaining };
}

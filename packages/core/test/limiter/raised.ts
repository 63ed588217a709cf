import { accountId, createLimiter, type Limiter, type Override, type Store } from '@sluice/core';
import type { LimitNumbers } from '../../src/rule/rate.ts';

export const daily: LimitNumbers = { count: 5, period: '24h' };

export const quick: LimitNumbers = { count: 5, period: '1s' };

export const all = (cost = 5, id = '7') => [{ limit: 'Orders' as const, id, cost }];

export function setOf(numbers: LimitNumbers, overrides: Record<string, Override> = {}) {
  return { limits: { Orders: { key: accountId(), ...numbers } }, overrides: { Orders: overrides } };
}

export function limiterOn(store: Store, numbers: LimitNumbers, overrides?: Record<string, Override>): Limiter {
  return createLimiter({ ...setOf(numbers, overrides), store, log: false });
}

/** Creates a limiter that a store can not distinguish from one of another process. */
export function anotherOn(store: Store, numbers: LimitNumbers): Limiter {
  const seenByOther = new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return limiterOn(seenByOther, numbers);
}

export function twoOn(store: Store, numbers: LimitNumbers): [Limiter, Limiter] {
  return [limiterOn(store, numbers), anotherOn(store, numbers)];
}

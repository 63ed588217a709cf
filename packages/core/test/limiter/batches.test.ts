import { accountId, createLimiter, type Store } from '@sluice/core';
import type { StoreOperation } from '@sluice/core/store';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { MapStore } from '../testing/map-store.ts';

/** A store that gets clones of its batches, as one in another thread does. */
function inAnotherThread(store: Store, received: string[]): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        received.push(name === 'run' ? (args[0] as StoreOperation).kind : String(name));
        return Reflect.apply(value, target, structuredClone(args));
      };
    },
  });
}

test('a store can send the batches of all calls to another thread or process', async () => {
  const received: string[] = [];
  const time = new FakeTime();
  const limits = (period: string) => ({ Orders: { key: accountId(), count: 2, period } });
  const store = inAnotherThread(new MapStore(time), received);
  const limiter = createLimiter({ limits: limits('1h'), store, time, log: false });
  const one = [{ limit: 'Orders', id: '1' }] as const;
  const other = [{ limit: 'Orders', id: '2' }] as const;
  const decision = await limiter.spend({ firstOf: [one, other] });
  await limiter.refund(decision);
  await limiter.charge(one);
  await limiter.spend([...one, ...other]);
  limiter.replace({ limits: limits('1m') });
  await limiter.check(one);
  await limiter.reset(one);
  expect(received).toEqual(['spend', 'refund', 'charge', 'spend', 'check', 'cap', 'check', 'reset']);
  expect([decision.failure, limiter.status().decidedByPolicy]).toEqual([undefined, 0]);
});

import { accountId, clientNetwork, createLimiter, memoryStore } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { expect, test } from 'vitest';
import { coreOf } from '../../src/limiter/create-limiter.ts';
import { overrideRate } from '../../src/definitions/overrides/override.ts';
import { BORROW, CONCURRENCY, LOAD, QUOTA } from '../../src/kinds.ts';
import { RATE } from '../../src/kinds/rate/rate.ts';
import { keySource } from '../support/key-source.ts';

test('an id that is known later may have an override that is known later still', async () => {
  const limiter = createLimiter({
    limits: { Orders: { key: accountId(async () => 'ann'), count: 5, period: '1s' } },
    overrides: async () => ({ count: 9, period: '1s' }),
    log: false,
  });
  const prepared = coreOf(limiter).prepare([{ limit: 'Orders', cost: 1, mode: 'check-and-spend', share: 1 }]);
  const decision = await prepared.resolved().spend(keySource({} as never));
  expect(decision).toMatchObject({ results: [{ burst: 9, overridden: true }] });
});

test('an unlimited or blocked id fits any kind of limits', () => {
  for (const kind of [RATE, QUOTA, CONCURRENCY, LOAD, BORROW])
    expect(['unlimited', 'blocked'].map((mark) => overrideRate('overrides.A', mark as 'blocked', kind))).toEqual([
      'unlimited',
      'blocked',
    ]);
});

test('a quota is counted first in a store that has hashed no id', () => {
  const limits = { Monthly: quota({ key: clientNetwork(), count: 5, per: 'month' }) } as const;
  const limiter = createLimiter({ limits, store: memoryStore() });
  expect(limiter.spendSync([{ limit: 'Monthly', id: '203.0.113.7' }]).remaining).toBe(4);
});

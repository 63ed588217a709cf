import { createLimiter, SluiceError, type Store } from '@sluice/core';
import { storeGuard } from '@sluice/core/store';
import { expect, test } from 'vitest';
import { strictestDecision } from '../../src/decision/strictness.ts';
import { accountLimits } from '../support/limiter-on-fake-time.ts';

const gone = (): never => {
  throw new SluiceError('ERR_STORE_UNAVAILABLE', 'connection refused');
};
const brokenStore = (): Store => ({
  guard: storeGuard,
  run: gone,
  close: () => undefined,
});

test('when the store can’t answer and a limit is closed, the decision is unavailable, with a wait of one second', async () => {
  const limits = accountLimits({
    Open: { count: 1, period: '1s', onFailure: 'open' },
    Closed: { count: 1, period: '1s', onFailure: 'closed' },
  });
  const limiter = createLimiter({ limits, store: brokenStore(), log: false });
  const decision = await limiter.spend([
    { limit: 'Open', id: '7' },
    { limit: 'Closed', id: '8' },
  ]);
  expect(decision).toMatchObject({
    outcome: 'unavailable',
    allowed: false,
    limit: 'Closed',
    id: '8',
    remaining: 0,
    retryAfterMs: 1000,
    resetAfterMs: 1000,
    results: [],
    failure: { policy: 'closed', cause: { message: 'connection refused' } },
  });
  expect(await limiter.refund(decision)).toEqual([]);
});

test('when the store can’t answer and every limit is open the decision is allowed, by no limit', async () => {
  const limits = accountLimits({ Open: { count: 1, period: '1s', onFailure: 'open' } });
  const limiter = createLimiter({ limits, store: brokenStore(), log: false });
  const decision = await limiter.check([{ limit: 'Open', id: '7' }]);
  expect(decision).toMatchObject({ outcome: 'allowed', limit: null, remaining: Infinity, failure: { policy: 'open' } });
});

test('of several decisions on one request an unavailable one is stricter than one of no limit, and than an allowed one', async () => {
  const limits = accountLimits({ Closed: { count: 1, period: '1s', onFailure: 'closed' } });
  const entry = [{ limit: 'Closed', id: '7' }];
  const unavailable = await createLimiter({ limits, store: brokenStore(), log: false }).spend(entry);
  const limiter = createLimiter({ limits });
  const [none, allowed] = [await limiter.spend([]), await limiter.spend(entry)];
  expect(strictestDecision([none, allowed, unavailable])).toBe(unavailable);
  expect(strictestDecision([none, allowed])).toBe(allowed);
});

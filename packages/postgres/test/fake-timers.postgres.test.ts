import { accountId, createLimiter } from '@sluice/core';
import { mock } from 'node:test';
import { afterEach, expect, test, vi } from 'vitest';
import { postgresServer } from '../../../test/postgres/postgres-server.ts';
import { storeOn } from './support.ts';

const server = await postgresServer();

afterEach(() => {
  vi.useRealTimers();
  mock.timers.reset();
});

test.each([
  ['the fake timers of Vitest', () => vi.useFakeTimers()],
  ['the mock timers of node:test', () => mock.timers.enable()],
])('a store that opens under %s decides', async (_name, fake) => {
  fake();
  const store = storeOn(server);
  await store.ready();
  const limits = { Mails: { key: accountId(), count: 1, period: '1m', onFailure: 'closed' } } as const;
  const limiter = createLimiter({ limits, store, log: false, failure: { deadlineMs: 1000 } });
  const spend = () => limiter.spend([{ limit: 'Mails', id: '12345678' }]);
  expect([(await spend()).outcome, (await spend()).outcome]).toEqual(['allowed', 'denied']);
});

import { accountId, createLimiter } from '@sluice/core';
import { hostStore } from '@sluice/host';
import { mock } from 'node:test';
import { afterEach, expect, test, vi } from 'vitest';
import { ownFolder } from './own-folder.ts';

const own = ownFolder();

afterEach(() => {
  vi.useRealTimers();
  mock.timers.reset();
});

async function outcome(): Promise<string> {
  const store = hostStore({ socket: own.socket, log: false });
  own.opened.push(store);
  await store.ready();
  const limits = { Mails: { key: accountId(), count: 1, period: '1m', onFailure: 'closed' } } as const;
  const limiter = createLimiter({ limits, store, log: false, failure: { deadlineMs: 1000 } });
  return (await limiter.spend([{ limit: 'Mails', id: '12345678' }])).outcome;
}

test.each([
  ['the fake timers of Vitest', () => vi.useFakeTimers()],
  ['the mock timers of node:test', () => mock.timers.enable()],
])('the process that serves and one that asks it decide under %s', async (_name, fake) => {
  fake();
  expect([await outcome(), await outcome()]).toEqual(['allowed', 'denied']);
});

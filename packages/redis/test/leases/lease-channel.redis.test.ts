import { leasedStore, type LeaseMessage } from '@sluice/redis';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { running } from '../../../../test/redis/servers/running.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { hourly, page, spendEach } from './support/pages.ts';
import { callsOf } from '@sluice/core/testing';

test('each sync is a message on the channel sluice:lease: its tokens, and whether Redis answered it', async () => {
  const proxy = await tcpProxy(await redisServer());
  const messages: LeaseMessage[] = [];
  const listener = (message: unknown): void => void messages.push(message as LeaseMessage);
  const store = leasedStore({ url: proxy.url, prefix: 'channel:', gateways: 1, maxWait: '1s', log: false });
  running.add({ close: () => store.close() });
  await store.ready();
  subscribe('sluice:lease', listener);
  running.add({ close: async () => void unsubscribe('sluice:lease', listener) });

  await callsOf(store).spend([hourly('charged', 3), page('charged', 2)]);
  await until('it is synced', () => messages.length > 0);
  expect(messages).toEqual([
    {
      stream: expect.stringMatching(/^channel::seq:[\w-]+$/),
      state: 'answered',
      durationMs: expect.any(Number),
      buckets: expect.any(Number),
      charged: expect.any(Number),
      returned: 0,
      wanted: 0,
      granted: 0,
      repeated: false,
      lost: false,
    },
  ]);
  await until('both are synced', () => messages.reduce((sum, { charged }) => sum + charged, 0) === 5);
  // The overdraft decides 14, or more if tokens come back meanwhile, and the others wait for their lease.
  await spendEach(store, 40, page('leased'));
  const leased = messages.find(({ wanted }) => wanted > 0)!;
  expect(leased).toMatchObject({ buckets: 1, wanted: 40 - leased.charged, granted: leased.wanted });
  expect(leased.charged).toBeGreaterThanOrEqual(14);
  expect(leased.durationMs).toBeGreaterThan(0);

  proxy.blackhole();
  messages.length = 0;
  await callsOf(store).spend([hourly('unanswered', 1)]);
  await until('a sync has failed', () => messages.some(({ state }) => state === 'failed'));
  const failed = messages.find(({ state }) => state === 'failed');
  expect(failed).toMatchObject({ state: 'failed', buckets: expect.any(Number), cause: expect.any(Error) });
  expect(failed).not.toHaveProperty('granted');
  await proxy.pass();
  await until('it is answered', () => messages.at(-1)?.state === 'answered');

  unsubscribe('sluice:lease', listener);
  messages.length = 0;
  await spendEach(store, 40, page('unheard'));
  expect(messages).toEqual([]);
});

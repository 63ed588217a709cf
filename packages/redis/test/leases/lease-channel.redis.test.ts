import { accountId, createLimiter } from '@sluice/core';
import { listenToTimes, readMetrics } from '@sluice/core/metrics';
import { leasedStore, type LeaseMessage } from '@sluice/redis';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { realDelay } from '../../../../test/real-delay.ts';
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
  const wanting = () => messages.find(({ wanted }) => wanted > 0);
  let tries = 0;
  await until('some wait', async () => {
    await spendEach(store, 40, page(`leased${tries++}`));
    return wanting() !== undefined;
  });
  const leased = wanting()!;
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

test('syncs are counted once for all limiters of a store: how they ended, what they charged and leased, and how long they took', async () => {
  const proxy = await tcpProxy(await redisServer());
  const store = leasedStore({ url: proxy.url, prefix: 'counted:', gateways: 1, maxWait: '1s', log: false });
  running.add({ close: () => store.close() });
  const limits = (name: string) => ({
    [name]: { key: accountId(), burst: 200, count: 100, period: '1s', overshoot: 0.1 } as const,
  });
  const one = createLimiter({ limits: limits('Pages'), store, log: false });
  const other = createLimiter({ limits: limits('Images'), store, log: false });
  await store.ready();
  const heard: string[] = [];
  const listener = { duration: () => {}, wait: () => {}, sync: (_: number, state: string) => void heard.push(state) };
  const [stop, stopOther] = [listenToTimes(one, listener), listenToTimes(other, listener)];
  const broken = (): never => {
    throw new Error('a recorder');
  };
  listenToTimes(one, { duration: broken, wait: broken, sync: broken });

  const read = () => {
    const samples = readMetrics(one, other).flatMap(({ name, samples: all }) =>
      all.map(({ attributes, value }) => [`${name} ${attributes['state'] ?? ''}`, value] as const),
    );
    return Object.fromEntries(samples.filter(([name]) => name.startsWith('sluice.lease.')));
  };
  const counted = (): number => {
    const { 'sluice.lease.charged ': charged, 'sluice.lease.granted ': granted } = read();
    return Number(charged) + Number(granted);
  };
  // What was let through beyond leases is charged, and the rest was leased. Where the machine stalls, a failure policy or Redis
  // decides instead, and another round is counted.
  let rounds = 0;
  await until('all of a round is charged or leased', async () => {
    const before = counted();
    const entries = [{ limit: 'Pages', id: `7${rounds++}` } as const];
    const decisions = await Promise.all(Array.from({ length: 60 }, () => one.spend(entries)));
    const decided = decisions.filter(({ failure }) => failure === undefined).length;
    const isCounted = (): boolean => counted() >= before + decided;
    for (let tries = 0; tries < 100 && !isCounted(); tries++) await realDelay(10);
    return isCounted();
  });
  expect(read()['sluice.lease.charged ']).toBeGreaterThan(0);
  expect(read()['sluice.lease.granted ']).toBeGreaterThan(0);
  const { 'sluice.lease.syncs answered': answered, 'sluice.lease.duration answered': durations } = read();
  expect(answered).toBe(heard.length);
  expect(durations).toMatchObject({ counts: expect.any(Array), sum: expect.any(Number) });
  expect(read()).toMatchObject({ 'sluice.lease.syncs failed': 0 });

  stop();
  stop();
  proxy.blackhole();
  await one.spend([{ limit: 'Pages', id: '8' }]);
  await until('a sync has failed', () => Number(read()['sluice.lease.syncs failed']) > 0);
  expect(heard).toContain('failed');
  stopOther();
  await proxy.pass();
  const before = heard.length;
  await until('it is answered', () => Number(read()['sluice.lease.syncs answered']) > Number(answered));
  expect(heard.length).toBe(before);
});

import { accountId, createLimiter } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { readyStore } from '../support/ready-store.ts';
import { SteeredStore } from '../support/steered-store.ts';

const server = await redisServer();
const key = accountId();

test('what could begin only after its caller has given up is denied by the script, and others keep their turns', async () => {
  const time = new FakeTime();
  const limits = { Queue: { key, burst: 1, count: 10, period: '1s', maxWait: '5s' } };
  const limiter = createLimiter({ limits, store: new SteeredStore(server, time), time, log: false });
  const entry = [{ limit: 'Queue', id: 'all' }] as const;
  const begun: [within: number, atMs: number][] = [];
  const runs = [250, 250, 1, 250, 250, 5000, 50, 250].map((within) =>
    limiter.run(entry, () => void begun.push([within, time.nowMs]), { within }),
  );
  await expect.poll(() => time.pending).toBe(1);
  await time.pass(10_000);
  const reasons = (await Promise.all(runs)).map(({ decision }) => decision.reason);
  const late = 'deadline';
  expect(reasons).toEqual([undefined, undefined, late, undefined, late, undefined, late, late]);
  expect(begun).toEqual([
    [250, 0],
    [250, 100],
    [250, 200],
    [5000, 300],
  ]);
});

test('Redis is waited for no longer than the caller, and what it took too late is given back', async () => {
  const proxy = await tcpProxy(server);
  const store = await readyStore({ url: proxy.url });
  const limits = { Orders: { key, count: 5, period: '1h' }, Patient: { key, count: 5, period: '1h' } };
  const limiter = createLimiter({ limits, store, log: false, failure: { deadlineMs: 20_000 } });
  proxy.delay(100);
  const left = async (limit: 'Orders' | 'Patient') => (await limiter.check([{ limit, id: 'a', cost: 0 }])).remaining;
  const late = Array.from({ length: 5 }, () =>
    limiter.run([{ limit: 'Orders', id: 'a' }], () => expect.unreachable(), { within: 5 }),
  );
  const patient = limiter.spend([{ limit: 'Patient', id: 'a' }]);
  for (const { decision } of await Promise.all(late))
    expect(decision).toMatchObject({ allowed: false, reason: 'deadline' });
  expect(await patient).toMatchObject({ allowed: true });
  proxy.delay(0);
  await expect.poll(() => left('Orders')).toBe(5);
  expect([await left('Patient'), limiter.status().outages]).toEqual([4, 0]);
  await limiter.close();
});

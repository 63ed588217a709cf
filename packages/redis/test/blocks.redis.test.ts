import { accountId, createLimiter, type Limiter } from '@sluice/core';
import { leasedStore, redisStore, type RedisStore } from '@sluice/redis';
import { Cluster } from 'ioredis';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { realDelay } from '../../../test/real-delay.ts';
import { redisServer } from '../../../test/redis/servers/redis-server.ts';
import { sharedCluster } from '../../../test/redis/servers/shared-cluster.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { readyStore } from './support/ready-store.ts';

const entry = { limit: 'Orders', id: '7' } as const;
const WHY = { forMs: 3_600_000, reason: 'ticket 4711', by: 'mia' };

const limiterOn = (store: RedisStore): Limiter =>
  createLimiter({ limits: { Orders: { key: accountId(), count: 1000, period: '1h' } }, store, log: false });

const isBlocked = async (limiter: Limiter): Promise<boolean> => (await limiter.spend([entry])).blocked;

describe('blocks in Redis', () => {
  test('take effect in all processes within a second, as their end does, and through a restart of one', async () => {
    const server = await redisServer();
    const open = async (): Promise<Limiter> => limiterOn(await readyStore({ url: server.url, prefix: 'two:' }));
    const [one, other] = [await open(), await open()];
    expect(await isBlocked(other)).toBe(false);
    await one.block([{ ...entry, ...WHY }]);
    expect(await isBlocked(one)).toBe(true);
    const beganMs = performance.now();
    await until('the other process knows it', () => isBlocked(other));
    expect(performance.now() - beganMs).toBeLessThan(1500);
    await other.close({ store: true });
    const again = await open();
    await again.ready();
    expect(await isBlocked(again)).toBe(true);
    expect(await one.unblock([entry])).toMatchObject([{ ...entry, reason: 'ticket 4711' }]);
    await until('its end is known', async () => !(await isBlocked(again)));
    await Promise.all([one.close({ store: true }), again.close({ store: true })]);
  });

  test('stay in effect while Redis is down', async () => {
    const server = await redisServer();
    const limiter = limiterOn(await readyStore({ url: server.url }));
    await limiter.block([{ ...entry, ...WHY }]);
    await server.stop();
    expect(await isBlocked(limiter)).toBe(true);
    const other = await limiter.spend([{ ...entry, id: '8' }]);
    expect(other).toMatchObject({ allowed: true, failure: { policy: 'local' } });
    await realDelay(1100);
    expect(await isBlocked(limiter)).toBe(true);
    await expect(limiter.unblock([entry])).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    expect(await isBlocked(limiter)).toBe(true);
    await limiter.close({ store: true });
  });

  test('are one value, with its revision, that expires after the last one, and is gone when there is none', async () => {
    const server = await redisServer();
    const limiter = limiterOn(await readyStore({ url: server.url, prefix: 'value:' }));
    await limiter.block([{ ...entry, ...WHY }]);
    const keys = (await server.call<string[]>('KEYS', 'value:*')).toSorted();
    expect(keys).toEqual(['value::{blocks}', 'value::{blocks}:revision']);
    for (const key of keys) {
      // oxlint-disable-next-line no-await-in-loop
      const life = Number(await server.call('PTTL', key));
      expect(life).toBeGreaterThan(3_600_000);
      expect(life).toBeLessThanOrEqual(4_200_000);
    }
    await limiter.unblock([entry]);
    expect(await server.call('KEYS', 'value:*')).toEqual([]);
    await limiter.close({ store: true });
  });

  test.each([
    ['value::{blocks}:revision', 1],
    ['value::{blocks}', 0],
  ])('are read and written although Redis has evicted %s', async (key, left) => {
    const server = await redisServer();
    const open = async (): Promise<Limiter> => limiterOn(await readyStore({ url: server.url, prefix: 'value:' }));
    const one = await open();
    await one.block([{ ...entry, ...WHY }]);
    await server.call('DEL', key);
    const other = await open();
    await other.ready();
    expect(await isBlocked(other)).toBe(left === 1);
    expect(await isBlocked(one)).toBe(true);
    await one.block([{ ...entry, id: '8', ...WHY }]);
    expect(await other.blocked()).toHaveLength(left + 1);
    await Promise.all([one.close({ store: true }), other.close({ store: true })]);
  });

  test('need no permission but those of rates', async () => {
    const page = readFileSync(new URL('../../../docs/running-on-redis.md', import.meta.url), 'utf8');
    const [, line = ''] = /^ACL SETUSER sluice on '>secret' (.+)$/m.exec(page) ?? [];
    const permissions = line
      .replaceAll("'", '')
      .split(' ')
      .filter((each) => !/^\+(z|pexpire)/.test(each));
    const server = await redisServer();
    await server.call('ACL', 'SETUSER', 'limits', 'on', '>secret', ...permissions);
    const url = server.url.replace('//', '//limits:secret@');
    const limiter = limiterOn(await readyStore({ url, prefix: 'sluice:' }));
    await limiter.block([{ ...entry, ...WHY }]);
    expect(await limiter.blocked()).toHaveLength(1);
    await limiter.close({ store: true });
  });

  test('cause a warning when another program has written there', async () => {
    const server = await redisServer();
    const events: string[] = [];
    await server.call('SET', 'foreign::{blocks}', 'something else');
    const store = await readyStore({ url: server.url, prefix: 'foreign:' });
    const limits = { Orders: { key: accountId(), count: 1000, period: '1h' } };
    const limiter = createLimiter({ limits, store, log: (line) => events.push(line) });
    await until('it is told', async () => {
      expect((await limiter.spend([entry])).allowed).toBe(true);
      return events.some((line) => line.includes("can't be read"));
    });
    await expect(limiter.block([{ ...entry, ...WHY }])).rejects.toMatchObject({ code: 'ERR_STORE_ANSWER' });
    await limiter.close({ store: true });
  });

  test('are one list in a cluster, with every hash tag', async () => {
    const { addresses } = await sharedCluster();
    const client = () => new Cluster([...addresses], { lazyConnect: true });
    for (const hashTag of [undefined, 'id', 'all', ({ id }: { readonly id: string }) => id]) {
      const prefix = `tagged${typeof hashTag}${String(hashTag).slice(0, 2).replaceAll(/\W/g, '')}:`;
      // oxlint-disable-next-line no-await-in-loop
      const limiter = limiterOn(await readyStore({ client: client(), prefix, hashTag }));
      // oxlint-disable-next-line no-await-in-loop
      await limiter.block(['7', '8', '9'].map((id) => ({ limit: 'Orders', id, ...WHY })));
      // oxlint-disable-next-line no-await-in-loop
      expect(await limiter.blocked()).toHaveLength(3);
      // oxlint-disable-next-line no-await-in-loop
      await limiter.close({ store: true });
    }
  });
});

test('a store that is closed makes no block', async () => {
  const server = await redisServer();
  const store = redisStore({ url: server.url });
  await store.close();
  await expect(Promise.resolve(store.blocks?.list(1000))).rejects.toMatchObject({ code: 'ERR_CLOSED' });
});

test('a limit that is decided by leases denies a blocked id without Redis', async () => {
  const server = await redisServer();
  const store = leasedStore({ url: server.url, gateways: 1, log: false });
  const limits = { Orders: { key: accountId(), count: 1000, period: '1h', overshoot: 0.1 } };
  const limiter = createLimiter({ limits, store, log: false });
  await limiter.ready();
  expect(await isBlocked(limiter)).toBe(false);
  await limiter.block([{ ...entry, ...WHY }]);
  expect(await isBlocked(limiter)).toBe(true);
  await limiter.unblock([entry]);
  expect(await isBlocked(limiter)).toBe(false);
  await limiter.close({ store: true });
});

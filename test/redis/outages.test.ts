// How the other libraries fail when Redis does, and that this one does not. All over HTTP, on an Express application.
import { accountId, createLimiter, type FailurePolicy } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import { redisStore } from '@sluice/redis';
import express from 'express';
import { Redis, type RedisOptions } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { listening } from './http.ts';
import { redisServer, type RedisServer } from './servers/redis-server.ts';
import { running } from './servers/running.ts';
import { until } from './servers/until.ts';
import { realDelay } from '../real-delay.ts';

const DEADLINE_MS = 50;
const LIMIT = { burst: 5, count: 1, period: '1h' };

/** A client of the application's, with the options that it has. */
function clientOf({ port }: RedisServer, options: Pick<RedisOptions, 'enableOfflineQueue'> = {}): Redis {
  const client = new Redis({ ...options, port });
  client.on('error', () => {});
  running.add({ close: async () => client.disconnect() });
  return client;
}

async function serviceOn(client: Redis, onFailure: FailurePolicy) {
  const store = redisStore({ client, log: false });
  running.add({ close: () => store.close() });
  const key = accountId((request: express.Request) => request.get('x-account')!);
  const limiter = createLimiter({
    limits: { Orders: { key, ...LIMIT } },
    store,
    failure: { onFailure, deadlineMs: DEADLINE_MS },
    log: () => {},
  });
  const app = express();
  app.get('/', rateLimit({ limiter }), (_request, response) => void response.send('hello'));
  const get = await listening(app);
  return {
    get: (account: string) => get({ 'x-account': account }),
    /** Waits until the store decides. */
    decides: async () => {
      await until('the store decides', async () => {
        const { failure } = await limiter.check([{ limit: 'Orders', id: 'nobody' }]);
        return failure === undefined;
      });
    },
  };
}

async function keysOf(server: RedisServer, accounts: string): Promise<string[]> {
  return server.call<string[]>('KEYS', `*${accounts}*`);
}

describe.each(['refuses', 'hangs'] as const)('when Redis %s and the client is plain `new Redis()`', (how) => {
  async function outage() {
    const server = await redisServer();
    const service = await serviceOn(clientOf(server), 'open');
    await service.decides();
    await (how === 'hangs' ? server.freeze() : server.stop());
    return { ...service, server, end: async () => (how === 'hangs' ? server.thaw() : server.start()) };
  }

  it('every request is answered at once or by the deadline', async () => {
    const { get, end } = await outage();
    const startMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => get(`during-${index}`)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    // The deadline is 50 ms; the rest is room for fifty requests on a busy machine. The others took 15 to 73 seconds.
    expect(performance.now() - startMs).toBeLessThan(10_000);
    await end();
  });

  it('calls of the outage are not run or counted after it', async () => {
    const { get, end, decides, server } = await outage();
    await Promise.all(Array.from({ length: 50 }, (_, index) => get(`during-${index}`)));
    // A policy may answer sooner than at the deadline; until then the server may still charge.
    await realDelay(DEADLINE_MS);
    await end();
    await decides();
    expect(await keysOf(server, 'during')).toEqual([]);
    await get('after');
    expect(await keysOf(server, 'after')).toHaveLength(1);
  });
});

describe.each([{ enableOfflineQueue: false }, {}])('when Redis is unreachable at boot, with options %j', (options) => {
  it('the policy decides until it is there, and the store from then on', async () => {
    const server = await redisServer({ absent: true });
    const { get, decides } = await serviceOn(clientOf(server, options), 'local');
    const early = await get('one');
    expect([early.status, early.headers.get('ratelimit')]).toEqual([200, null]);
    await server.start();
    await decides();
    const late = await get('one');
    expect([late.status, late.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('"Orders";r=4')]);
    expect(await keysOf(server, 'one')).toHaveLength(1);
  });
});

it('an outage is a 503, never the 429 of a limit', async () => {
  const server = await redisServer();
  const { get, decides } = await serviceOn(clientOf(server), 'closed');
  await decides();
  await server.stop();
  const unavailable = await get('one');
  expect(unavailable.status).toBe(503);
  expect(Number(unavailable.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(unavailable.headers.get('ratelimit')).toBeNull();
  expect(await unavailable.json()).toMatchObject({
    type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
    status: 503,
  });

  await server.start();
  await decides();
  const statuses = [];
  // oxlint-disable-next-line no-await-in-loop -- in this order
  for (let n = 0; n < 6; n++) statuses.push((await get('one')).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
});

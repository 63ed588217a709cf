import { clientNetwork, createLimiter, type Limiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { redisServer, type RedisServer } from '../redis/servers/redis-server.ts';
import { until } from '../redis/servers/until.ts';
import { ExampleServer } from './example-server.ts';

const REQUESTS = 20;
const TRUE_COST = 30;
const BURST = 100_000;
const CONNECTIONS_LAST = new URL('lasting-connections.mjs', import.meta.url).href;

let redis: RedisServer;
let server: ExampleServer;
let agent: Agent;
/** Looks at the same buckets as the example. */
let limiter: Limiter;

beforeAll(async () => {
  redis = await redisServer();
  limiter = createLimiter({
    limits: { TokensPerClient: { key: clientNetwork(), count: BURST, period: '30d' } },
    store: redisStore({ url: redis.url, log: false }),
    failure: { deadlineMs: 5000 },
    log: false,
  });
});
afterAll(async () => {
  await limiter.close({ store: true });
  await redis.stop();
});

it('without Redis, the example ends with the cause in one message, without a stack', async () => {
  const started = ExampleServer.start('graceful-shutdown', 'express.js', { REDIS_URL: 'redis://127.0.0.1:1' });
  const { message } = await started.then(
    () => new Error('it started'),
    (error: Error) => error,
  );
  expect(message).toMatch(/ended with 1:[^]*was not ready within 3000 ms: Error: connect ECONNREFUSED 127\.0\.0\.1:1/);
  expect(message).not.toMatch(/\n +at /);
});

describe.each(['express', 'koa', 'fastify'])('a graceful shutdown of %s, with Redis and requests in flight', (name) => {
  beforeEach(async () => {
    await redis.call('FLUSHALL');
    server = await ExampleServer.start('graceful-shutdown', `${name}.js`, { REDIS_URL: redis.url }, CONNECTIONS_LAST);
    // Connections that their client keeps, as browsers and proxies do.
    agent = new Agent({ keepAlive: true });
    await decidedByRedis();
    await until('the true cost of it is written', async () => (await taken()) === TRUE_COST);
    return async () => {
      agent.destroy();
      await server.stop();
    };
  });

  it('answers them all, writes their true costs, and ends by itself, though its clients would keep their connections', async () => {
    const begun = await Promise.all(Array.from({ length: REQUESTS }, () => begin()));
    const exit = server.stop();
    await refusesConnections();
    const answers = await Promise.all(begun.map((response) => text(response)));
    expect(await exit).toBe(0);
    expect(new Set(answers)).toEqual(new Set(['All is well that ends well.\n ']));
    expect(await taken()).toBe((REQUESTS + 1) * TRUE_COST);
    expect(server.output).toBe(`Listening on ${server.url}\n`);
  });

  it('ends after a few more answers, also on connections whose clients keep sending requests', async () => {
    let answered = 0;
    const clients = Array.from({ length: REQUESTS }, () => sendsUntilRefused(() => answered++));
    await until('their connections are in use for the second time', () => answered > REQUESTS);
    const before = answered;
    expect(await server.stop()).toBe(0);
    // Without an end to each connection there are more than ten on each, until one happens to be idle.
    expect(answered - before).toBeLessThanOrEqual(4 * REQUESTS);
    for (const code of await Promise.all(clients)) expect(code).toMatch(/^(ECONNREFUSED|ECONNRESET)$/);
  });
});

/** Asks until the example's Redis has decided: a store's first decisions may be made before it is connected. */
async function decidedByRedis(): Promise<void> {
  for (;;) {
    const response = await begin();
    await text(response);
    if (response.headers['ratelimit'] !== undefined) return;
  }
}

/** Sends a request and gives its answer when the first word of it is there. */
function begin(): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(server.url, { agent }, (response) => response.once('readable', () => resolve(response)));
    sent.once('error', reject).end();
  });
}

/** Sends one request after the other, as fast as they are answered, and gives the code of the error that ends it. */
async function sendsUntilRefused(onAnswer: () => void): Promise<unknown> {
  try {
    for (;;) {
      await text(await begin());
      onAnswer();
    }
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

/** Waits until nobody listens any more. */
async function refusesConnections(): Promise<void> {
  for (;;) {
    const refused = await new Promise<boolean>((resolve) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
      socket.once('connect', () => socket.destroy());
    });
    if (refused) return;
  }
}

/** Tokens that are taken from this client's bucket, as another process sees it. */
async function taken(): Promise<number> {
  const { remaining, failure } = await limiter.check([{ limit: 'TokensPerClient', id: '127.0.0.1', cost: 0 }]);
  return failure === undefined ? BURST - remaining : NaN;
}

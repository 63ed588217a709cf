import { accountId, clientNetwork, createLimiter, type LimiterOptions } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express from 'express5';
import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { realDelay } from '../../real-delay.ts';
import type { Begin } from './counted.ts';

interface Paths {
  readonly paths: Readonly<Record<string, Begin>>;
  readonly close: () => unknown;
}

/** Its bucket is never full again, so that it stays where it is. */
const RATE = { burst: 1_000_000, count: 1000, period: '1h' } as const;
const key = clientNetwork();

/** The limits of the paths by HTTP. */
export const LIMITS = {
  'a rate': { A: { key, ...RATE } },
  'a quota': { A: { key, count: 1_000_000, per: 'month' } },
  'two limits': { A: { key, ...RATE }, B: { key, ...RATE, count: 500 } },
  'a slot': { A: { key, concurrency: 10 } },
} as const satisfies Record<string, LimiterOptions['limits']>;

/** A middleware of Express with all of some limits. */
export function middleware(options: LimiterOptions): ReturnType<typeof rateLimit> {
  return rateLimit({ limiter: createLimiter(options), limits: Object.keys(options.limits) });
}

export async function pathsInMemory(): Promise<Paths> {
  const { begins, close } = await servers(Object.values(LIMITS).map((limits) => ({ limits })));
  const limiter = createLimiter({ limits: { A: { key: accountId(), ...RATE } } });
  const handle = limiter.limit('A');
  return {
    paths: {
      ...Object.fromEntries(Object.keys(LIMITS).map((name, i) => [name, begins[i]!])),
      'a rate, without HTTP': (done) => {
        void limiter.spend([{ limit: 'A', id: 'ann' }]);
        done();
      },
      'a rate, by a handle': (done) => {
        handle.spendSync('ann');
        done();
      },
    },
    close,
  };
}

export async function pathsOnRedis(url: string): Promise<Paths> {
  // Here, because nothing in memory needs it.
  const { redisStore } = await import('@sluice/redis');
  const store = redisStore({ url, log: false });
  await store.ready();
  const names = ['a rate', 'two limits'] as const;
  const { begins, close } = await servers(names.map((name) => ({ limits: LIMITS[name], store })));
  return {
    paths: Object.fromEntries(names.map((name, i) => [`${name} on Redis`, begins[i]!])),
    close: () => Promise.all([close(), store.close()]),
  };
}

/** Starts a server of Express for each of some limiters. */
async function servers(limiters: readonly LimiterOptions[]): Promise<{ begins: readonly Begin[]; close: () => void }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const all = limiters.map((options) => {
    const app = express();
    app.use(middleware(options));
    app.get('/', (_req, res) => void res.end('ok'));
    return createServer(app).listen(0, '127.0.0.1');
  });
  await Promise.all(all.map((server) => once(server, 'listening')));
  return {
    begins: all.map((server) => requestTo((server.address() as AddressInfo).port, agent)),
    close() {
      agent.destroy();
      for (const server of all) server.close();
    },
  };
}

function requestTo(port: number, agent: Agent): Begin {
  return (done) => {
    get({ port, host: '127.0.0.1', agent }, (response) => {
      if (response.statusCode !== 200) throw new Error(`The answer was ${response.statusCode}.`);
      // The server may still have something to do.
      response.resume().once('end', () => void realDelay(5).then(done));
    });
  };
}

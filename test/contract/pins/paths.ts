import { accountId, clientNetwork, createLimiter, everyone, type LimiterOptions } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { createScheduler } from '@sluice/core/scheduler';
import { rateLimit } from '@sluice/express';
import express from 'express5';
import { once } from 'node:events';
import { Agent, createServer, get, type Server } from 'node:http';
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

/** The limits of the paths by HTTP whose bytes are measured, too. */
export const LIMITS = {
  'a rate': { A: { key, ...RATE } },
  'a quota': { A: quota({ key, count: 1_000_000, per: 'month' }) },
  'two limits': { A: { key, ...RATE }, B: { key, ...RATE, count: 500 } },
  'a slot': { A: concurrency({ key, concurrency: 10 }) },
} as const satisfies Record<string, LimiterOptions['limits']>;

/** The options of the other paths by HTTP. */
const OTHERS: Readonly<Record<string, LimiterOptions>> = {
  'a rate, denied': { limits: { A: { key, burst: 1, count: 1, period: '1m' } } },
  'a rate, observed': { limits: LIMITS['a rate'], onDecision: () => {} },
  'an override': { limits: LIMITS['a rate'], overrides: { A: { '127.0.0.1': { ...RATE, count: 500 } } } },
  'eight limits': { limits: Object.fromEntries(Array.from('ABCDEFGH', (name) => [name, { key, ...RATE }])) },
  'a queue': { limits: { A: { key, ...RATE, maxWait: '1s' } } },
  borrowing: {
    limits: {
      A: borrow({ key, ...RATE, borrow: { from: 'Pool', ceiling: RATE, tenants: 1 } }),
      Pool: { key: everyone(), ...RATE },
    },
  },
};

/** A middleware of Express with all of some limits. */
export function middleware(options: LimiterOptions): ReturnType<typeof rateLimit> {
  // What is borrowed from is not asked by itself.
  return rateLimit({
    limiter: createLimiter({ ...options, log: false }),
    limits: Object.keys(options.limits).filter((name) => name !== 'Pool'),
  });
}

export async function pathsInMemory(): Promise<Paths> {
  const rates = Object.entries(LIMITS).map(([name, limits]) => [name, { limits }] as const);
  const { paths, close } = await servers({ ...Object.fromEntries(rates), ...OTHERS });
  const limiter = createLimiter({ limits: { A: { key: accountId(), ...RATE } } });
  const handle = limiter.limit('A');
  const scheduler = createScheduler(limiter);
  return {
    paths: {
      ...paths,
      'a rate, without HTTP': (done) => {
        void limiter.spend([{ limit: 'A', id: 'ann' }]);
        done();
      },
      'a rate, by a handle': (done) => {
        handle.spendSync('ann');
        done();
      },
      'work by run': (done) => void limiter.run([{ limit: 'A', id: 'ann' }], () => 1).then(done),
      'work by a scheduler': (done) => void scheduler.run([{ limit: 'A', id: 'ann' }], () => 1).then(done),
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
  const options = names.map((name) => [`${name} on Redis`, { limits: LIMITS[name], store }] as const);
  const { paths, close } = await servers(Object.fromEntries(options));
  return { paths, close: () => Promise.all([close(), store.close()]) };
}

/** Starts a server of Express for each of some limiters. Those whose name says so deny all requests. */
async function servers(limiters: Readonly<Record<string, LimiterOptions>>): Promise<Paths> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const all = await Promise.all(Object.entries(limiters).map(([name, options]) => serverOf(name, options)));
  const paths: Record<string, Begin> = {};
  for (const [name, server] of all) {
    const { port } = server.address() as AddressInfo;
    const isDenied = name.endsWith('denied');
    // oxlint-disable-next-line no-await-in-loop -- all use one connection
    if (isDenied) await new Promise<void>(requestTo({ port, agent, status: 200 }));
    paths[name] = requestTo({ port, agent, status: isDenied ? 429 : 200 });
  }
  return {
    paths,
    close() {
      agent.destroy();
      for (const [, server] of all) server.close();
    },
  };
}

async function serverOf(name: string, options: LimiterOptions): Promise<readonly [name: string, server: Server]> {
  const app = express();
  app.use(middleware(options));
  app.get('/', (_req, res) => void res.end('ok'));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return [name, server];
}

function requestTo({ port, agent, status }: { port: number; agent: Agent; status: number }): Begin {
  return (done) => {
    get({ port, host: '127.0.0.1', agent }, (response) => {
      if (response.statusCode !== status) throw new Error(`The answer was ${response.statusCode}.`);
      // The server may still have something to do.
      response.resume().once('end', () => void realDelay(5).then(done));
    });
  };
}

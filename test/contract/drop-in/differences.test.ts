import fastifyRateLimit from '@fastify/rate-limit';
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js';
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { memoryStore } from '@sluice/core';
import { FakeTime } from '@sluice/core/testing';
import { rateLimitStorage } from '@sluice/drop-in/better-auth';
import { rateLimitStore, type RateLimitStore, type RateLimitStoreOptions } from '@sluice/drop-in/express-rate-limit';
import { rateLimitStore as fastifyStore } from '@sluice/drop-in/fastify-rate-limit';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import request from 'supertest';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { rowsOf } from '../../docs/page-tables.ts';
import { running } from '../../redis/servers/running.ts';

const WINDOW_MS = 60_000;
const QUIET = { error: () => {}, warn: () => {} };

/** The clock of our stores, and the date, by which the own stores count. */
let time: FakeTime;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  time = new FakeTime(Date.now());
});
afterEach(async () => {
  vi.useRealTimers();
  await running.closeAllBut();
});

function pass(ms: number): void {
  time.advance(ms);
  vi.setSystemTime(Date.now() + ms);
}

/** Options of all limiters, as each of them names its own. */
interface Numbers {
  readonly limit?: number | (() => number);
  readonly continueExceeding?: boolean;
  readonly exponentialBackoff?: boolean;
  readonly groupId?: string;
}

/** Whether a request passes. */
type Ask = (path?: string) => Promise<boolean>;
/** Makes an application with the own store of its limiter, or with ours. */
type Application = (isOurs: boolean, numbers?: Numbers, ours?: RateLimitStoreOptions) => Promise<Ask>;

const PAGE = 'http://localhost:3000';
const hasPassed = ({ status }: { readonly status: number }): boolean => status !== 429;
const expressStore = (options: RateLimitStoreOptions = {}): RateLimitStore =>
  rateLimitStore({ time, log: false, ...options });

async function expressApp(isOurs: boolean, numbers: Numbers = {}, ours?: RateLimitStoreOptions): Promise<Ask> {
  const limits = { windowMs: WINDOW_MS, limit: 3, validate: false, logger: QUIET, ...numbers };
  const app = express().use(rateLimit({ ...limits, ...(isOurs && { store: expressStore(ours) }) }));
  app.get('/', (_req, res) => void res.end());
  return async () => hasPassed(await request(app).get('/'));
}

async function honoApp(isOurs: boolean, numbers: Numbers = {}, ours?: RateLimitStoreOptions): Promise<Ask> {
  const limits = { windowMs: WINDOW_MS, limit: 3, keyGenerator: () => 'k', ...numbers };
  const app = new Hono().use(rateLimiter({ ...limits, ...(isOurs && { store: expressStore(ours) }) }));
  app.get('/', (c) => c.text('hello'));
  return async () => hasPassed(await app.request('/'));
}

async function mcpApp(isOurs: boolean, numbers: Numbers = {}, ours?: RateLimitStoreOptions): Promise<Ask> {
  const limits = { windowMs: WINDOW_MS, limit: 3, validate: false, logger: QUIET, ...numbers };
  const provider = { clientsStore: { getClient: () => undefined } } as unknown as OAuthServerProvider;
  const tokenOptions = { rateLimit: { ...limits, ...(isOurs && { store: expressStore(ours) }) } };
  const app = express().use(mcpAuthRouter({ provider, issuerUrl: new URL(PAGE), tokenOptions }));
  return async () => hasPassed(await request(app).post('/token'));
}

async function fastifyApp(isOurs: boolean, { limit = 3, ...numbers }: Numbers = {}): Promise<Ask> {
  const app = Fastify();
  running.add({ close: () => app.close() });
  const limits = { max: limit, timeWindow: WINDOW_MS, ...numbers };
  await app.register(fastifyRateLimit, {
    global: false,
    ...limits,
    ...(isOurs && { store: fastifyStore({ time, log: false }) }),
  });
  for (const url of ['/', '/other']) app.get(url, { config: { rateLimit: limits } }, () => 'hello');
  // A failed login, as the documentation counts them.
  const check = app.createRateLimit(limits);
  app.get('/login', { config: { rateLimit: false } }, async (req, reply) => {
    const status = await check(req, { increment: false });
    if ('isExceeded' in status && status.isExceeded) return reply.code(429).send();
    await check(req);
    return reply.code(401).send();
  });
  return async (path = '/') => hasPassed({ status: (await app.inject(path)).statusCode });
}

let clients = 0;

async function betterAuthApp(isOurs: boolean, { limit = 3 }: Numbers = {}): Promise<Ask> {
  const auth = betterAuth({
    baseURL: PAGE,
    secret: 'a secret of at least thirty-two characters',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    rateLimit: {
      enabled: true,
      customRules: { '/ok': { window: WINDOW_MS / 1000, max: limit as number } },
      ...(isOurs && { customStorage: rateLimitStorage({ time, log: false }) }),
    },
    advanced: { ipAddress: { ipAddressHeaders: ['x-client'] } },
    logger: { disabled: true },
  });
  // All instances of it share the memory of the process.
  const headers = { 'x-client': `198.51.100.${++clients}` };
  return async () => hasPassed(await auth.handler(new Request(`${PAGE}/api/auth/ok`, { headers })));
}

const OF_EXPRESS: Readonly<Record<string, Application>> = {
  'express-rate-limit': expressApp,
  'hono-rate-limiter': honoApp,
  mcpAuthRouter: mcpApp,
};
const OF_FASTIFY = { '@fastify/rate-limit': fastifyApp };
const OF_BETTER_AUTH = { 'better-auth': betterAuthApp };

/** How many of so many requests pass, one after another. */
async function passed(ask: Ask, count: number, path?: string): Promise<number> {
  let all = 0;
  // oxlint-disable-next-line no-await-in-loop -- one after another
  for (let i = 0; i < count; i++) if (await ask(path)) all += 1;
  return all;
}

/** Both applications: with the own store, and with ours. */
function both(application: Application, numbers?: Numbers): Promise<[own: Ask, ours: Ask]> {
  return Promise.all([application(false, numbers), application(true, numbers)]);
}

interface Difference {
  readonly between: Readonly<Record<string, Application>>;
  /** As docs/switch-in-one-line.md tells it. */
  readonly what: string;
  readonly holds: (application: Application) => Promise<void>;
}

const DIFFERENCES: readonly Difference[] = [
  {
    between: { ...OF_EXPRESS, ...OF_FASTIFY, ...OF_BETTER_AUTH },
    what: 'one more request passes after each part of the window',
    async holds(application) {
      const [own, ours] = await both(application);
      expect([await passed(own, 5), await passed(ours, 5)]).toEqual([3, 3]);
      pass(WINDOW_MS / 3);
      expect([await passed(own, 5), await passed(ours, 5)]).toEqual([0, 1]);
      pass(WINDOW_MS);
      expect([await passed(own, 5), await passed(ours, 5)]).toEqual([3, 3]);
    },
  },
  {
    between: OF_EXPRESS,
    what: '`limit` as a function needs the same as an option of the store, a function of the key',
    async holds(application) {
      const limit = (): number => 2;
      expect(await passed(await application(false, { limit }), 5)).toBe(2);
      await expect(application(true, { limit })).rejects.toThrow('`limit` of the limiter is a function');
      expect(await passed(await application(true, { limit }, { limit }), 5)).toBe(2);
    },
  },
  {
    between: OF_EXPRESS,
    what: 'a `limit` that is not a number, and two of them for one store and name, are errors when the program starts',
    async holds(application) {
      expect(await passed(await application(false, { limit: Number.NaN }), 5)).toBe(5);
      await expect(application(true, { limit: Number.NaN })).rejects.toThrow('`limit` must be a number');
      const store = memoryStore();
      await application(true, { limit: 3 }, { store });
      await expect(application(true, { limit: 4 }, { store })).rejects.toThrow('Another limiter already uses');
    },
  },
  {
    between: OF_FASTIFY,
    what: '`continueExceeding` and `exponentialBackoff` are errors when the program starts, and a look (`increment: false`) reports that a limit is used up one request earlier',
    async holds(application) {
      const logins = await both(application);
      expect([await passed(logins[0], 10, '/login'), await passed(logins[1], 10, '/login')]).toEqual([4, 3]);
      for (const name of ['continueExceeding', 'exponentialBackoff']) {
        const own = await application(false, { [name]: true });
        expect(await passed(own, 4)).toBe(3);
        pass(WINDOW_MS - 1);
        expect(await passed(own, 1)).toBe(0);
        pass(WINDOW_MS - 1);
        expect(await passed(own, 1)).toBe(0);
        await expect(application(true, { [name]: true })).rejects.toThrow(`\`${name}\` must not be true`);
      }
    },
  },
  {
    between: OF_FASTIFY,
    what: 'the routes of a `groupId` share their buckets, and no two handlers do',
    async holds(application) {
      const [own, ours] = await both(application, { groupId: 'code' });
      expect([await passed(own, 4), await passed(own, 4, '/other')]).toEqual([3, 3]);
      expect([await passed(ours, 4), await passed(ours, 4, '/other')]).toEqual([3, 0]);
    },
  },
  {
    between: OF_BETTER_AUTH,
    what: 'a `max` that is not a number is an error of each request',
    async holds(application) {
      const [own, ours] = await both(application, { limit: Number.NaN });
      expect(await passed(own, 5)).toBe(5);
      await expect(ours()).rejects.toThrow('`max` must be a number');
    },
  },
];

describe.each(DIFFERENCES)('other than its own store, with ours $what', ({ between, holds }) => {
  test.each(Object.entries(between))('behind %s', async (_name, application) =>
    expect(holds(application)).resolves.toBeUndefined(),
  );
});

test('the page lists these differences, and at most three of a limiter', () => {
  const listed = rowsOf('switch-in-one-line.md', 'What differs').map((row) => [
    row['limiter']!.replaceAll('`', ''),
    row['with our store'],
  ]);
  const all = Object.keys(DIFFERENCES[0]!.between);
  const named = DIFFERENCES.map(({ between, what }) => {
    const names = Object.keys(between);
    return [names.length === all.length ? 'all' : names.join(', '), what];
  });
  expect(listed).toEqual(named);
  for (const name of all) expect(DIFFERENCES.filter(({ between }) => name in between).length).toBeLessThanOrEqual(3);
});

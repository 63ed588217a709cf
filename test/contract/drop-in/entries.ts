// The limiters that have a store of this package, each as its own documentation shows, behind one way to ask them.
import fastifyRateLimit from '@fastify/rate-limit';
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js';
import { rateLimitStorage } from '@sluice/drop-in/better-auth';
import { rateLimitStore as expressStore, type RateLimitStoreOptions } from '@sluice/drop-in/express-rate-limit';
import { rateLimitStore as fastifyStore } from '@sluice/drop-in/fastify-rate-limit';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import express, { type Express, type Request as ExpressRequest } from 'express';
import { rateLimit } from 'express-rate-limit';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { rateLimiter } from 'hono-rate-limiter';
import { listening } from '../../redis/http.ts';
import { running } from '../../redis/servers/running.ts';

/** The limit, and the options of the store. */
interface EntryOptions extends Omit<RateLimitStoreOptions, 'limit'> {
  readonly limit: number;
  readonly windowMs: number;
}

/** How a limiter answered: `429`, another 4xx or 2xx for a request that was let through, or 5xx. */
export interface EntryAnswer {
  readonly status: number;
  readonly retryAfterSeconds: number;
}

/** Sends a request of a client. */
export type Ask = (client: string) => Promise<EntryAnswer>;

export interface Entry {
  readonly name: string;
  readonly serve: (options: EntryOptions) => Promise<Ask>;
}

const HEADER = 'x-client';
const PAGE = 'http://localhost:3000';

function answerOf({ status, headers }: Response): EntryAnswer {
  return { status, retryAfterSeconds: Number(headers.get('retry-after') ?? headers.get('x-retry-after')) };
}

/** Serves an application until the test ends. */
async function asked(app: Express, path = '/', init: Omit<RequestInit, 'headers'> = {}): Promise<Ask> {
  const ask = await listening(app, path, init);
  return async (client) => {
    const response = await ask({ [HEADER]: client });
    await response.arrayBuffer();
    return answerOf(response);
  };
}

const keyGenerator = (request: ExpressRequest): string => request.get(HEADER) ?? '';
/** Express prints errors that nobody handles. */
const silent: express.ErrorRequestHandler = ({ status }: { readonly status?: number }, _req, res, _next) =>
  void res.status(status ?? 500).end();

const expressEntry: Entry = {
  name: 'express-rate-limit',
  serve({ limit, windowMs, ...options }) {
    const app = express();
    app.use(rateLimit({ limit, windowMs, keyGenerator, validate: false, store: expressStore(options) }));
    app.get('/', (_req, res) => void res.end('hello'));
    app.use(silent);
    return asked(app);
  },
};

const honoEntry: Entry = {
  name: 'hono-rate-limiter',
  async serve({ limit, windowMs, ...options }) {
    const app = new Hono();
    const store = expressStore(options);
    app.use(rateLimiter({ limit, windowMs, keyGenerator: (c) => c.req.header(HEADER) ?? '', store }));
    app.get('/', (c) => c.text('hello'));
    return async (client) => answerOf(await app.request('/', { headers: { [HEADER]: client } }));
  },
};

/** No clients, so that each request that is let through ends with 400. */
const provider = { clientsStore: { getClient: () => undefined } } as unknown as OAuthServerProvider;

const mcpEntry: Entry = {
  name: 'the auth router of the MCP SDK',
  serve({ limit, windowMs, ...options }) {
    const app = express();
    const tokenOptions = {
      rateLimit: { limit, windowMs, keyGenerator, validate: false, store: expressStore(options) },
    };
    app.use(mcpAuthRouter({ provider, issuerUrl: new URL(PAGE), tokenOptions }));
    app.use(silent);
    return asked(app, '/token', { method: 'POST' });
  },
};

const fastifyEntry: Entry = {
  name: '@fastify/rate-limit',
  async serve({ limit, windowMs, ...options }) {
    const app = Fastify();
    running.add({ close: () => app.close() });
    await app.register(fastifyRateLimit, {
      max: limit,
      timeWindow: windowMs,
      keyGenerator: (request) => String(request.headers[HEADER]),
      store: fastifyStore(options),
    });
    app.get('/', () => 'hello');
    return async (client) => {
      const { statusCode, headers } = await app.inject({ url: '/', headers: { [HEADER]: client } });
      return { status: statusCode, retryAfterSeconds: Number(headers['retry-after']) };
    };
  },
};

const betterAuthEntry: Entry = {
  name: 'better-auth',
  async serve({ limit, windowMs, ...options }) {
    const rule = { window: windowMs / 1000, max: limit };
    const auth = betterAuth({
      baseURL: PAGE,
      secret: 'a secret of at least thirty-two characters',
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      rateLimit: { enabled: true, customRules: { '/ok': rule }, customStorage: rateLimitStorage(options) },
      advanced: { ipAddress: { ipAddressHeaders: [HEADER], ipv6Subnet: 128 } },
      logger: { disabled: true },
    });
    const request = (client: string): Request => new Request(`${PAGE}/api/auth/ok`, { headers: { [HEADER]: client } });
    // It passes errors of its storage on.
    const failed = (): Response => new Response(null, { status: 500 });
    return async (client) => answerOf(await auth.handler(request(client)).catch(failed));
  },
};

/** All limiters, each of which knows clients by addresses. */
export const ENTRIES: readonly Entry[] = [expressEntry, honoEntry, mcpEntry, fastifyEntry, betterAuthEntry];

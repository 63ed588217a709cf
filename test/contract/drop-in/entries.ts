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
  /** Only limiters that can give a request back have it. */
  readonly skipFailedRequests?: boolean;
}

/** How a limiter answered: `429`, another 4xx or 2xx for a request that was let through, or 5xx. */
export interface EntryAnswer {
  readonly status: number;
  readonly retryAfterSeconds: number;
}

/** Sends a request of a client, which fails after the limiter if it is told to. */
export type Ask = (client: string, fails?: boolean) => Promise<EntryAnswer>;

export interface Entry {
  readonly name: string;
  /** Whether its limiter can give a request back after the response. */
  readonly givesBack: boolean;
  readonly serve: (options: EntryOptions) => Promise<Ask>;
}

const HEADER = 'x-client';
const FAILS = 'x-fails';
const PAGE = 'http://localhost:3000';

function answerOf({ status, headers }: Response): EntryAnswer {
  return { status, retryAfterSeconds: Number(headers.get('retry-after') ?? headers.get('x-retry-after')) };
}

function headersOf(client: string, fails: boolean): Record<string, string> {
  return { [HEADER]: client, 'content-type': 'application/json', ...(fails && { [FAILS]: 'yes' }) };
}

/** Serves an application until the test ends. */
async function asked(app: Express, path = '/', init: Omit<RequestInit, 'headers'> = {}): Promise<Ask> {
  const ask = await listening(app, path, init);
  return async (client, fails = false) => {
    const response = await ask(headersOf(client, fails));
    await response.arrayBuffer();
    return answerOf(response);
  };
}

const keyGenerator = (request: ExpressRequest): string => request.get(HEADER) ?? '';
/** Express prints errors that nobody handles. The gate prints those without a status, too: no limiter means them. */
const silent: express.ErrorRequestHandler = (error: { readonly status?: number }, _req, res, _next) => {
  if (error.status === undefined && process.env['CI'] !== undefined) console.error(error);
  res.status(error.status ?? 500).end();
};

const expressEntry: Entry = {
  name: 'express-rate-limit',
  givesBack: true,
  serve({ limit, windowMs, skipFailedRequests = false, ...options }) {
    const app = express();
    const limits = { limit, windowMs, skipFailedRequests };
    app.use(rateLimit({ ...limits, keyGenerator, validate: false, store: expressStore(options) }));
    app.get('/', (req, res) => void res.status(req.get(FAILS) === undefined ? 200 : 400).end('hello'));
    app.use(silent);
    return asked(app);
  },
};

const honoEntry: Entry = {
  name: 'hono-rate-limiter',
  givesBack: true,
  async serve({ limit, windowMs, skipFailedRequests = false, ...options }) {
    const app = new Hono();
    const limits = { limit, windowMs, skipFailedRequests };
    app.use(rateLimiter({ ...limits, keyGenerator: (c) => c.req.header(HEADER) ?? '', store: expressStore(options) }));
    app.get('/', (c) => c.text('hello', c.req.header(FAILS) === undefined ? 200 : 400));
    return async (client, fails = false) => answerOf(await app.request('/', { headers: headersOf(client, fails) }));
  },
};

/** Registers every client. */
const clientsStore = { getClient: () => undefined, registerClient: (client: object) => client };
const provider = { clientsStore } as unknown as OAuthServerProvider;

const mcpEntry: Entry = {
  name: 'the auth router of the MCP SDK',
  givesBack: true,
  serve({ limit, windowMs, skipFailedRequests = false, ...options }) {
    const app = express();
    const limits = { limit, windowMs, skipFailedRequests };
    const clientRegistrationOptions = {
      rateLimit: { ...limits, keyGenerator, validate: false, store: expressStore(options) },
    };
    // The router does not read a body again.
    app.use(express.json(), (req, _res, next) => {
      if (req.get(FAILS) !== undefined) req.body = {};
      next();
    });
    app.use(mcpAuthRouter({ provider, issuerUrl: new URL(PAGE), clientRegistrationOptions }));
    app.use(silent);
    return asked(app, '/register', { method: 'POST', body: JSON.stringify({ redirect_uris: [PAGE] }) });
  },
};

const fastifyEntry: Entry = {
  name: '@fastify/rate-limit',
  givesBack: false,
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
  givesBack: false,
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

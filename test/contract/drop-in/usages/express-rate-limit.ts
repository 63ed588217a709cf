// The examples of the README and of the reference of express-rate-limit, with smaller numbers.
import { rateLimitStore, type RateLimitStore, type RateLimitStoreOptions } from '@sluice/drop-in/express-rate-limit';
import express, { type Express, type RequestHandler } from 'express';
import type { Options, RateLimitRequestHandler, Store } from 'express-rate-limit';
import { listening } from '../../../redis/http.ts';
import { peer } from './peers.ts';
import { answerOfResponse, inTurn, type Usage } from './usage.ts';

type Library = typeof import('express-rate-limit');
type Limiter = (options: Partial<Options>, ours?: RateLimitStoreOptions) => RateLimitRequestHandler;

/** The two stores that are compared, new ones for each limiter. */
export interface ExpressStores {
  /** `undefined` for the memory store of the library. */
  readonly own: () => Store | undefined;
  readonly ours: (options?: RateLimitStoreOptions) => RateLimitStore;
}

export const EXPRESS_IN_MEMORY: ExpressStores = {
  own: () => undefined,
  ours: (options) => rateLimitStore({ log: false, ...options }),
};

interface Served {
  readonly name: string;
  /** Makes the application. Its limiters are of the library, and their stores its own or ours. */
  readonly app: (limiter: Limiter) => Express;
  /** The paths that a client asks for. */
  readonly paths: readonly string[];
  /** The headers of its requests. */
  readonly headers?: Record<string, string>;
}

const QUARTER = { windowMs: 15 * 60 * 1000, max: 3, standardHeaders: 'draft-7', legacyHeaders: false } as const;
const FIVE = ['/', '/', '/', '/', '/'];
const hello: RequestHandler = (_req, res) => void res.send('hello');

/** An application with one limiter for all of it. */
function all(options: Partial<Options>, handler: RequestHandler = hello, ours?: RateLimitStoreOptions): Served['app'] {
  return (limiter) =>
    express()
      .use(limiter({ ...QUARTER, ...options }, ours))
      .get(/.*/, handler);
}

const isPremium = (name: unknown): Promise<boolean> => Promise.resolve(name === 'ann');
const byStatus: RequestHandler = (req, res) => void res.status(Number(req.path.slice(1)) || 200).send('hello');

const SERVED: readonly Served[] = [
  { name: 'a limit for all requests', app: all({}), paths: FIVE },
  { name: 'fields of draft 6', app: all({ standardHeaders: true }), paths: FIVE },
  { name: 'fields of draft 8', app: all({ standardHeaders: 'draft-8' }), paths: FIVE },
  { name: 'an identifier', app: all({ standardHeaders: 'draft-8', identifier: 'api' }), paths: FIVE },
  { name: 'X-RateLimit fields', app: all({ standardHeaders: false, legacyHeaders: true }), paths: FIVE },
  {
    name: 'a limit for a path, and another one for a route',
    app: (limiter) =>
      express()
        .use('/api/', limiter(QUARTER))
        .get(
          '/create-account',
          limiter({ ...QUARTER, windowMs: 60 * 60 * 1000, max: 2, message: 'Too many accounts created from this IP.' }),
          hello,
        )
        .get(/.*/, hello),
    paths: [...Array<string>(4).fill('/api/x'), ...Array<string>(3).fill('/create-account'), '/other'],
  },
  {
    name: 'a limit that is a function of the request, which the store is told by the key',
    app: all(
      {
        keyGenerator: (req) => req.get('x-name') ?? '',
        max: async (req) => ((await isPremium(req.get('x-name'))) ? 4 : 2),
      },
      hello,
      {
        limit: async (name) => ((await isPremium(name)) ? 4 : 2),
      },
    ),
    paths: FIVE,
    headers: { 'x-name': 'ann' },
  },
  {
    name: 'a message that is a function of the request',
    app: all({
      message: async (req: express.Request) => `Only 3 for ${(await isPremium(req.get('x-name'))) ? 'you' : 'all'}`,
    }),
    paths: FIVE,
    headers: { 'x-name': 'ann' },
  },
  { name: 'a message that is an object', app: all({ message: { error: 'too many' }, statusCode: 418 }), paths: FIVE },
  { name: 'a key of its own', app: all({ keyGenerator: (req) => req.path }), paths: [...FIVE, '/a', '/a', '/b'] },
  {
    name: 'a handler of its own',
    app: all({ handler: (_req, res, _next, options) => void res.status(options.statusCode).send(options.message) }),
    paths: FIVE,
  },
  { name: 'a list of clients to skip', app: all({ skip: (req) => req.path === '/free' }), paths: [...FIVE, '/free'] },
  {
    name: 'skipSuccessfulRequests',
    app: all({ skipSuccessfulRequests: true }, byStatus),
    paths: [...FIVE, '/500', '/500', '/500', '/500', '/200'],
  },
  {
    name: 'skipFailedRequests',
    app: all({ skipFailedRequests: true }, byStatus),
    paths: ['/500', '/500', '/500', '/500', ...FIVE],
  },
  {
    name: 'skipFailedRequests with requestWasSuccessful',
    app: all({ skipFailedRequests: true, requestWasSuccessful: (_req, res) => res.statusCode !== 401 }, byStatus),
    paths: ['/401', '/401', '/401', '/401', '/500', ...FIVE],
  },
  {
    name: 'a limit of 0, which version 6 does not apply',
    app: (limiter) =>
      express()
        .use('/none', limiter({ ...QUARTER, max: 0, validate: false }))
        .use(limiter(QUARTER))
        .get(/.*/, hello),
    paths: ['/none', '/none', ...FIVE],
  },
  {
    name: 'the state on the request',
    app: all({}, (req, res) => {
      const { limit, remaining, current } = (req as unknown as { rateLimit: Record<string, unknown> }).rateLimit;
      res.json({ limit, remaining, current });
    }),
    paths: FIVE,
  },
  {
    name: 'the state under a name of its own',
    app: all({ requestPropertyName: 'limited' }, (req, res) => {
      res.json((req as unknown as { limited: { remaining: number } }).limited.remaining);
    }),
    paths: FIVE,
  },
  {
    name: 'a handler that passes a denied request on',
    app: all({ handler: (_req, _res, next) => next() }, (req, res) => {
      const { remaining } = (req as unknown as { rateLimit: { remaining: number } }).rateLimit;
      res.status(remaining === 0 ? 429 : 200).end();
    }),
    paths: FIVE,
  },
  {
    name: 'resetKey',
    app(limiter) {
      const limit = limiter({ ...QUARTER, keyGenerator: () => 'k' });
      const app = express().get('/reset', async (_req, res) => {
        await limit.resetKey('k');
        res.end();
      });
      return app.use(limit).get(/.*/, hello);
    },
    paths: ['/', '/', '/', '/', '/reset', '/', '/'],
  },
];

/** @param version - The name by which the library is installed. */
export function expressUsages(version: string, stores: ExpressStores = EXPRESS_IN_MEMORY): readonly Usage[] {
  return SERVED.map(({ name, app, paths, headers = {} }) => ({
    name,
    async answers(isOurs) {
      const { default: rateLimit } = (await peer(version)) as Library;
      const limiter: Limiter = (options, ours) => {
        const store = isOurs ? stores.ours(ours) : stores.own();
        return rateLimit({ ...options, ...(store && { store }) });
      };
      const made = app(limiter);
      const asks = await Promise.all(
        [...new Set(paths)].map(async (path) => [path, await listening(made, path)] as const),
      );
      const ask = new Map(asks);
      return inTurn(
        paths.map((path) => async () => {
          const answer = await answerOfResponse(await ask.get(path)!(headers));
          // What is given back is so after the response.
          await new Promise((done) => setImmediate(done));
          return answer;
        }),
      );
    },
  }));
}

// The examples of the README of @fastify/rate-limit, with smaller numbers.
import type { FastifyRateLimitOptions, RateLimitPluginOptions } from '@fastify/rate-limit';
import { rateLimitStore, type RateLimitStoreClass } from '@sluice/drop-in/fastify-rate-limit';
import Fastify, { type FastifyInstance } from 'fastify';
import { running } from '../../../redis/servers/running.ts';
import { peer } from './peers.ts';
import { answerOf, inTurn, type Usage } from './usage.ts';

type Library = typeof import('@fastify/rate-limit');

/** The two stores that are compared, new ones for each application. */
export interface FastifyStores {
  /** The options that choose the store of the library: none for memory. */
  readonly own: () => Pick<RateLimitPluginOptions, 'redis' | 'nameSpace'>;
  readonly ours: () => RateLimitStoreClass;
}

interface Registered {
  readonly name: string;
  /** The options of the registration. */
  readonly options: RateLimitPluginOptions;
  readonly routes: (app: FastifyInstance) => void;
  readonly paths: readonly string[];
}

const MINUTE = '1 minute';
const FIVE = ['/', '/', '/', '/', '/'];
const root = (app: FastifyInstance): unknown => app.get('/', () => ({ hello: 'world' }));
const route = (app: FastifyInstance, url: string, rateLimit: FastifyRateLimitOptions | false): unknown =>
  app.get(url, { config: { rateLimit } }, () => url);

const REGISTERED: readonly Registered[] = [
  { name: 'a limit for all routes', options: { max: 3, timeWindow: MINUTE }, routes: root, paths: FIVE },
  {
    name: 'an error handler',
    options: { max: 3, timeWindow: MINUTE },
    routes(app) {
      app.setErrorHandler<Error & { statusCode?: number }>((error, _request, reply) => {
        if (error.statusCode === 429) error.message = 'You hit the rate limit! Slow down please!';
        return reply.code(error.statusCode ?? 500).send(error);
      });
      root(app);
    },
    paths: FIVE,
  },
  {
    name: 'a handler of pages that are not found, by the global limit',
    options: { max: 2, timeWindow: MINUTE },
    routes(app) {
      app.setNotFoundHandler({ preHandler: app.rateLimit() }, (_request, reply) => void reply.code(404).send('none'));
      root(app);
    },
    paths: ['/none', '/none', '/none', '/'],
  },
  {
    name: 'a handler of pages that are not found, by a limit of its own',
    options: { max: 2, timeWindow: MINUTE },
    routes(app) {
      const preHandler = app.rateLimit({ max: 4, timeWindow: MINUTE });
      app.setNotFoundHandler({ preHandler }, (_request, reply) => void reply.code(404).send('none'));
      root(app);
    },
    paths: ['/none', '/none', '/none', '/none', '/none', '/', '/', '/'],
  },
  {
    name: 'ban, a hook, and the fields of the draft',
    options: { max: 3, ban: 2, timeWindow: MINUTE, hook: 'preHandler', cache: 10_000, enableDraftSpec: true },
    routes: root,
    paths: [...FIVE, ...FIVE],
  },
  {
    name: 'fields that are chosen',
    options: {
      max: 2,
      timeWindow: MINUTE,
      addHeadersOnExceeding: { 'x-ratelimit-limit': true, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false },
      addHeaders: { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': true, 'retry-after': false },
    },
    routes: root,
    paths: FIVE,
  },
  {
    name: 'a max that is a function of the key',
    options: {
      keyGenerator: (request) => String((request.query as Record<string, unknown>)['key']),
      max: (_request, key) => (key === 'pro' ? 3 : 2),
      timeWindow: MINUTE,
    },
    routes: root,
    paths: [...Array<string>(4).fill('/?key=pro'), ...Array<string>(3).fill('/?key=other')],
  },
  {
    name: 'a key of users, who are known before the handler, and callbacks',
    options: {
      max: 2,
      ban: 1,
      timeWindow: MINUTE,
      hook: 'preHandler',
      keyGenerator: (request) => String(request.headers['x-user']),
      onExceeding: (request) => void (request.headers['x-told'] = 'exceeding'),
      onExceeded: (request) => void (request.headers['x-told'] = 'exceeded'),
      onBanReach: (request) => void (request.headers['x-told'] += ', banned'),
    },
    routes(app) {
      app.addHook('onRequest', async (request) => {
        request.headers['x-user'] = String((request.query as Record<string, unknown>)['user']);
      });
      app.addHook('onSend', async (request, _reply, body) => `${String(body)} ${String(request.headers['x-told'])}`);
      root(app);
    },
    paths: ['/?user=ann', '/?user=ann', '/?user=ann', '/?user=ann', '/?user=ann', '/?user=bob'],
  },
  {
    name: 'an answer of its own',
    options: {
      max: 2,
      timeWindow: MINUTE,
      errorResponseBuilder: (_request, { max, statusCode }) => ({
        statusCode,
        error: 'Too many',
        message: `only ${max}`,
      }),
    },
    routes: root,
    paths: FIVE,
  },
  {
    name: 'a list of clients to let through',
    options: { max: 2, timeWindow: MINUTE, allowList: (request) => request.url === '/?internal' },
    routes: root,
    paths: [...FIVE, '/?internal'],
  },
  {
    name: 'routes with limits of their own, and a group',
    options: { global: false, max: 5, timeWindow: MINUTE },
    routes(app) {
      for (const url of ['/', '/private']) route(app, url, { max: 3, timeWindow: MINUTE });
      app.get('/public', () => 'public');
      route(app, '/rated', { timeWindow: MINUTE });
    },
    paths: [...FIVE, ...Array<string>(4).fill('/private'), '/public', '/rated'],
  },
  {
    name: 'routes beside the global limit',
    options: { max: 4, timeWindow: MINUTE },
    routes(app) {
      root(app);
      route(app, '/public', false);
      route(app, '/private', { max: 2 });
    },
    paths: [...FIVE, '/public', '/private', '/private', '/private'],
  },
  {
    name: 'limits that handlers check',
    options: { global: false, max: 2, timeWindow: MINUTE },
    routes(app) {
      const checks = { '/': app.createRateLimit(), '/custom': app.createRateLimit({ max: 3 }) };
      for (const [url, check] of Object.entries(checks))
        app.get(url, async (request, reply) => {
          const { isAllowed, ...limit } = await check(request);
          const isExceeded = !isAllowed && 'isExceeded' in limit && limit.isExceeded;
          return isExceeded ? reply.code(429).send('Limit exceeded') : 'Hello world';
        });
    },
    paths: [...FIVE, ...Array<string>(4).fill('/custom')],
  },
];

export function fastifyUsages(
  { own, ours }: FastifyStores = { own: () => ({}), ours: () => rateLimitStore({ log: false }) },
): readonly Usage[] {
  return REGISTERED.map(({ name, options, routes, paths }) => ({
    name,
    async answers(isOurs) {
      const { default: plugin } = (await peer('@fastify/rate-limit')) as Library;
      const app = Fastify();
      running.add({ close: () => app.close() });
      await app.register(plugin, { ...options, ...(isOurs ? { store: ours() } : own()) });
      routes(app);
      return inTurn(
        paths.map((url) => async () => {
          const { statusCode, body, headers } = await app.inject(url);
          return answerOf(statusCode, body, Object.entries(headers));
        }),
      );
    },
  }));
}

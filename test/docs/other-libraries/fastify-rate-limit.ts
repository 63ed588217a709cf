import theirs, { normalizeIP, type RateLimitPluginOptions as TheirOptions } from '@fastify/rate-limit';
import { accountId, clientNetwork, createLimiter, memoryStore } from '@sluice/core';
import { rateLimit as ours, type RateLimitOptions as OurOptions } from '@sluice/fastify';
import Fastify, { type FastifyInstance, type FastifyRequest, type RouteShorthandOptions } from 'fastify';
import { onNothing, onRedis } from './stores.ts';
import {
  all,
  answers,
  denial,
  fieldsOf,
  from,
  header,
  pair,
  times,
  type Ask,
  type Pair,
  type Rows,
  type Seen,
  type Send,
} from './pairs.ts';

const ACCOUNT = 'x-account';
const accountOf = (request: FastifyRequest): string => String(request.headers[ACCOUNT] ?? '');
const byAccount = accountId(accountOf);

type Plugin = (served: FastifyInstance) => unknown;

const there =
  (options: TheirOptions): Plugin =>
  (served) =>
    served.register(theirs, { max: 2, timeWindow: '1 minute', ...options });
const here =
  (options: object): Plugin =>
  (served) =>
    served.register(ours, {
      count: 2,
      period: '1m',
      trustedProxies: ['loopback'],
      log: false,
      ...options,
    } as OurOptions);

/** An application with a plugin, and with routes that have a configuration. */
async function app(plugin: Plugin, routes: Readonly<Record<string, object>> = { '/': {} }): Promise<FastifyInstance> {
  const served = Fastify({ trustProxy: 'loopback' });
  await plugin(served);
  for (const [path, config] of Object.entries(routes)) {
    served.get(path, config as RouteShorthandOptions, () => 'ok');
  }
  return served;
}

const into =
  (served: FastifyInstance): Send =>
  async (path, fields) => {
    const { statusCode, headers, payload } = await served.inject({ url: path, headers: fields });
    return { status: statusCode, text: payload, get: (field) => headers[field]?.toString() };
  };

async function both(theirOptions: TheirOptions, ourOptions: object, asks: readonly Ask[], seen?: Seen): Promise<Pair> {
  return pair(
    async () => answers(into(await app(there(theirOptions))), asks, seen),
    async () => answers(into(await app(here(ourOptions))), asks, seen),
  );
}

/** Both plugins, with a configuration of the same route each. */
function onRoutes(theirRoutes: object, ourRoutes: object, asks: readonly Ask[], options: object = {}): Promise<Pair> {
  const configured = (routes: object) =>
    Object.fromEntries(Object.entries(routes).map(([path, rateLimit]) => [path, { config: { rateLimit } }]));
  return pair(
    async () => answers(into(await app(there(options), configured(theirRoutes))), asks),
    async () => answers(into(await app(here(options), configured(ourRoutes))), asks),
  );
}

export const options: Rows = {
  '`max`': () => both({ max: 3 }, { count: 3 }, times(4)),
  '`timeWindow`': () =>
    both({ max: 1, timeWindow: '1 minute' }, { count: 1, period: '1m' }, times(2), fieldsOf('retry-after')),
  '`max`, `timeWindow` as functions': () => {
    const isPro = (request?: FastifyRequest): boolean => request?.headers['x-plan'] === 'pro';
    const limiter = createLimiter({
      limits: { Requests: { key: byAccount, count: 1, period: '1m' } },
      overrides: (_limit, _id, request?: FastifyRequest) => (isPro(request) ? { count: 1, period: '2m' } : undefined),
    });
    const asks = [...times(2, { 'x-account': '1', 'x-plan': 'pro' }), ...times(2, { 'x-account': '2' })];
    const timeWindow = (request: FastifyRequest): number => (isPro(request) ? 120_000 : 60_000);
    return pair(
      async () =>
        answers(
          into(await app(there({ max: () => 1, timeWindow, keyGenerator: accountOf }))),
          asks,
          fieldsOf('retry-after'),
        ),
      async () =>
        answers(into(await app((served) => served.register(ours, { limiter }))), asks, fieldsOf('retry-after')),
    );
  },
  '`max`, `timeWindow` of a route': () =>
    onRoutes(
      { '/few': { max: 1, timeWindow: 60_000 }, '/many': { max: 3 } },
      { '/few': { count: 1, period: 60_000 }, '/many': { count: 3, period: '1m' } },
      [...times(2, { path: '/few' }), ...times(4, { path: '/many' })],
      { global: false },
    ),
  '`hook`': () => {
    const accounts = new WeakMap<FastifyRequest, string>();
    const signedIn =
      (plugin: Plugin): Plugin =>
      async (served) => {
        served.addHook('preValidation', async (request) => void accounts.set(request, accountOf(request)));
        await plugin(served);
      };
    const accountAfter = (request: FastifyRequest): string => accounts.get(request) ?? 'nobody';
    const asks = header(ACCOUNT, '1', '1', '2', '1');
    return pair(
      async () => answers(into(await app(signedIn(there({ hook: 'preHandler', keyGenerator: accountAfter })))), asks),
      async () => answers(into(await app(signedIn(here({ hook: 'preHandler', key: accountId(accountAfter) })))), asks),
    );
  },
  '`global`': async () => {
    const asks = [...times(3), ...times(3, { path: '/limited' })];
    const routes = (rateLimit: object) => ({ '/': {}, '/limited': { config: { rateLimit } } });
    return pair(
      async () => answers(into(await app(there({ global: false }), routes({}))), asks),
      async () => answers(into(await app(here({ global: false }), routes({ count: 2, period: '1m' }))), asks),
    );
  },
  '`keyGenerator`': () => both({ keyGenerator: accountOf }, { key: byAccount }, header(ACCOUNT, '1', '1', '1', '2')),
  '`keyGenerator` of a route': () =>
    onRoutes(
      { '/': { max: 1, keyGenerator: accountOf } },
      { '/': { count: 1, period: '1m', key: byAccount } },
      header(ACCOUNT, '1', '1', '2'),
    ),
  '`ipv6Subnet` (64)': () =>
    both(
      {},
      { key: clientNetwork({ ipv6PrefixLength: 64 }) },
      from('2001:db8:1:1::1', '2001:db8:1:1::2', '2001:db8:1:1::3', '2001:db8:1:2::1'),
    ),
  '`allowList`': () => {
    const skip = (request: FastifyRequest): boolean => accountOf(request) === 'ours';
    const asks = [
      ...from(...Array.from({ length: 3 }, () => '203.0.113.7')),
      ...from(...Array.from({ length: 3 }, () => '203.0.113.8')),
    ];
    return all(
      both({ allowList: ['203.0.113.7'] }, { overrides: { '203.0.113.7': 'unlimited' } }, asks),
      both({ allowList: skip }, { skip }, [...header(ACCOUNT, 'ours', 'ours', 'ours'), ...times(3)]),
    );
  },
  '`allowList` of a route': () => {
    const skip = (request: FastifyRequest): boolean => accountOf(request) === 'ours';
    return onRoutes({ '/': { allowList: skip } }, { '/': { skip } }, [
      ...header(ACCOUNT, 'ours', 'ours', 'ours'),
      ...times(3),
    ]);
  },
  // Each route of their groups counts for itself: its store is another one.
  '`groupId`': async () => {
    const limiter = createLimiter({ limits: { Group: { key: clientNetwork(), count: 2, period: '1m' } } });
    const routes = (rateLimit: object) => ({ '/a': { config: { rateLimit } }, '/b': { config: { rateLimit } } });
    const asks = [{ path: '/a' }, { path: '/b' }, { path: '/a' }, { path: '/b' }, { path: '/a' }];
    const group = await pair(
      async () => answers(into(await app(there({ global: false }), routes({ max: 2, groupId: 'g' }))), asks),
      async () =>
        answers(
          into(await app((served) => served.register(ours, { limiter, global: false }), routes({ limits: ['Group'] }))),
          asks,
        ),
    );
    return [
      [
        [200, 200, 200, 200, 429],
        [200, 200, 429, 429, 429],
      ],
      group,
    ];
  },
  // Where there is room for ten, the first of eleven is forgotten.
  '`cache`': () =>
    both(
      { cache: 10, keyGenerator: accountOf },
      { store: memoryStore({ maxKeys: 10 }), name: 'Requests', key: byAccount, fields: 'legacy' },
      header(ACCOUNT, ...Array.from({ length: 11 }, (_none, i) => `${i}`), '0', '10'),
      fieldsOf('x-ratelimit-remaining'),
    ),
  '`redis`, `store`': async () => {
    const { client, limiter: shared } = await onRedis();
    const two = (plugin: () => Plugin) => async () => {
      const [first, second] = [await app(plugin()), await app(plugin())];
      return [await answers(into(first), times(2)), await answers(into(second), times(1))];
    };
    return pair(
      two(() => there({ redis: client })),
      two(() => here({ ...shared, name: 'Requests' })),
    );
  },
  '`skipOnError`': async () => {
    const { client, limiter: shared } = await onNothing();
    return both(
      { redis: client, skipOnError: true },
      { ...shared, name: 'Requests', failure: { onFailure: 'open' } },
      times(3),
    );
  },
  '`ban`, `onBanReach`': 'the page of bans has a test of its own',
  '`errorResponseBuilder`': () =>
    both(
      { errorResponseBuilder: (_request, { max }) => ({ statusCode: 420, most: max }) },
      {
        onDenied: (_request: unknown, reply: { code(status: number): void }) => (
          reply.code(420),
          { statusCode: 420, most: 2 }
        ),
      },
      times(3),
      denial,
    ),
  '`onExceeding`, `onExceeded`': async () => {
    const [calledThere, calledHere]: [string[], string[]] = [[], []];
    await both(
      { onExceeding: () => calledThere.push('allowed'), onExceeded: () => calledThere.push('denied') },
      { onDecision: ({ allowed }: { allowed: boolean }) => calledHere.push(allowed ? 'allowed' : 'denied') },
      times(3),
    );
    return [calledThere, calledHere];
  },
  '`addHeaders`, `addHeadersOnExceeding`, `enableDraftSpec`': () => {
    const none = { 'x-ratelimit-limit': false, 'x-ratelimit-remaining': false, 'x-ratelimit-reset': false };
    const seen = fieldsOf('x-ratelimit-limit', 'x-ratelimit-remaining', 'ratelimit-limit', 'ratelimit-remaining');
    return all(
      both({}, { fields: 'legacy' }, times(2), seen),
      both({ enableDraftSpec: true }, { fields: 'draft-6' }, times(2), seen),
      both({ addHeaders: none, addHeadersOnExceeding: none }, { fields: false }, times(2), seen),
    );
  },
};

export const calls: Rows = {
  '`app.createRateLimit()(request)`': async () => {
    const limiter = createLimiter({ limits: { Requests: { key: byAccount, count: 2, period: '1m' } } });
    const entry = [{ limit: 'Requests', id: '1' }] as const;
    const served = await app(there({ global: false, keyGenerator: accountOf }), {});
    const ask = served.createRateLimit();
    served.get('/', async (request) => {
      const looked = await ask(request, { increment: false });
      const taken = await ask(request);
      return [looked, taken].map((said) => (said.isAllowed ? said : [!said.isExceeded, said.remaining]));
    });
    const seen: Seen = ({ text }) => JSON.parse(text) as unknown;
    const call = async () => {
      const looked = await limiter.check([{ ...entry[0], cost: 0 }]);
      const taken = await limiter.spend(entry);
      return [looked, taken].map(({ allowed, remaining }) => [allowed, remaining]);
    };
    return [
      await answers(into(served), header(ACCOUNT, '1', '1', '1'), seen),
      [await call(), await call(), await call()],
    ];
  },
  '`app.rateLimit()` as a `preHandler`': async () => {
    const served = await app(there({ global: false }), {});
    served.get('/', { preHandler: served.rateLimit() }, () => 'ok');
    const own = { config: { rateLimit: { count: 2, period: '1m' } } };
    return pair(
      () => answers(into(served), times(3)),
      async () => answers(into(await app(here({ global: false, hook: 'preHandler' }), { '/': own })), times(3)),
    );
  },
  '`setNotFoundHandler` with a `preHandler`': async () => {
    const served = await app(there({}));
    served.setNotFoundHandler({ preHandler: served.rateLimit() }, (_request, reply) => reply.code(404).send());
    return pair(
      () => answers(into(served), times(3, { path: '/missing' })),
      async () => answers(into(await app(here({}))), times(3, { path: '/missing' })),
    );
  },
  '`normalizeIP(ip, 64)`': () =>
    both(
      { keyGenerator: (request) => normalizeIP(request.ip, 64) },
      { key: clientNetwork({ ipv6PrefixLength: 64 }) },
      from('2001:db8:1:1::1', '2001:db8:1:1::2', '2001:db8:1:1::3', '::ffff:203.0.113.7', '203.0.113.7', '203.0.113.7'),
    ),
};

// The middlewares beside handlers with types of their own. `npm run check -- lint` and test/docs/types-in-settings.test.ts
// compile it, nothing runs it.
import { accountId, clientNetwork, createLimiter, type Decision, type Limiter } from '@sluice/core';
import { limitsStatus as expressStatus, rateLimit as expressRateLimit } from '@sluice/express';
import { limitsStatus as fastifyStatus, rateLimit as fastifyRateLimit } from '@sluice/fastify';
import { limitFetch } from '@sluice/fetch';
import { limitsStatus as honoStatus, rateLimit as honoRateLimit } from '@sluice/hono';
import { limitsStatus as koaStatus, rateLimit as koaRateLimit } from '@sluice/koa';
import { limitNode } from '@sluice/node';
import express, { Router, type NextFunction, type Request, type RequestHandler, type Response } from 'express';
import Fastify, { type FastifyInstance, type RouteGenericInterface } from 'fastify';
import { Hono, type Context as HonoContext, type MiddlewareHandler } from 'hono';
import { createFactory } from 'hono/factory';
import Koa from 'koa';
import { createServer } from 'node:http';

const numbers = { count: 1, period: '1m' } as const;

interface Params {
  id: string;
}
interface ResBody {
  ok: boolean;
}
interface ReqBody {
  item: number;
}
interface Query {
  q?: string;
}
interface Locals extends Record<string, unknown> {
  user?: { id: string };
}

// Options that come from elsewhere may be undefined, and numbers may be of any string.
declare const elsewhere: {
  text: string | undefined;
  list: string[] | undefined;
  flag: boolean | undefined;
  number: number | undefined;
};
const common = {
  name: elsewhere.text,
  fields: elsewhere.flag ? ('legacy' as const) : undefined,
  trustedProxies: elsewhere.list,
  addressHeader: elsewhere.text,
  decodeNat64: elsewhere.flag,
  burst: elsewhere.number,
  maxQueued: elsewhere.number,
  retryJitter: elsewhere.number,
  onFailure: undefined,
  failure: { deadlineMs: elsewhere.number },
  overrides: undefined,
  store: undefined,
  log: undefined,
  onEvent: undefined,
  time: undefined,
  cost: undefined,
  share: undefined,
  settle: undefined,
  key: undefined,
  onDenied: undefined,
  skip: undefined,
};
const loaded: { count: number; period: string } = { count: 10, period: '1m' };
const plans = { free: { count: 10, period: '1m' }, pro: { count: 100, period: '1m' } } as const;

const ofExpress = (): void => {
  const app = express();
  const router = Router({ mergeParams: true });
  const limit = expressRateLimit(numbers);
  const status = expressStatus({
    limiter: createLimiter({ limits: { Orders: { key: clientNetwork(), ...numbers } } }),
  });
  app.use(limit);
  app.use('/api', limit, status);
  app.all('/x', limit, (_req, res) => void res.end());
  router.use(limit);
  app.get('/status', status);
  app.get<Params>('/status/:id', status);

  app.post<Params>('/x/:id', limit, (req, res) => void res.send(req.params.id));
  app.post<Params, ResBody, ReqBody, Query, Locals>('/orders/:id', limit, (req, res) => {
    res.json({ ok: req.body.item > 0 && req.params.id !== req.query.q && res.locals.user !== undefined });
  });
  router.route('/orders/:id').put<Params, ResBody, ReqBody, Query, Locals>(limit, (req, res) => {
    res.json({ ok: req.body.item > 0 });
  });
  // The middleware does not change what is known of the parameters.
  app.get('/orders/:id', limit, (req, res) => {
    const id: string = req.params.id;
    // @ts-expect-error the path has no such parameter
    const other: number = req.params.id;
    res.json({ id, other, left: req.rateLimit?.remaining });
  });

  const handlers: RequestHandler[] = [limit, status];
  app.use(handlers);
  app.use(...handlers);
  const typed: RequestHandler<Params, ResBody, ReqBody, Query, Locals> = limit;
  app.put('/t/:id', typed, (_req, res) => void res.end());
  const plain: RequestHandler = limit;
  const short: (req: Request, res: Response, next: NextFunction) => void = limit;
  const later: (req: Request, res: Response, next: NextFunction) => void | Promise<void> = limit;
  const any: (req: any, res: any, next: any) => void = limit;
  const byRoute: Record<string, RequestHandler> = { '/login': limit };
  const protect = (...all: RequestHandler[]): RequestHandler[] => all;
  app.use(protect(limit, plain, short, later, any, byRoute['/login']!));
  // It may be called, as a middleware that chooses one does.
  app.use((req, res, next) => limit(req, res, next));
  const chosen: RequestHandler<Params> = (req, res, next) => limit(req, res, next);
  app.use('/:id', chosen);

  type Authenticated = Request & { user?: { id: string } };
  const limiter = createLimiter({
    limits: {
      Client: { key: clientNetwork(), ...numbers },
      Account: { key: accountId((req: Authenticated) => req.user?.id ?? null), ...numbers },
    },
  });
  app.use(expressRateLimit({ limiter, limits: ['Client', { limit: 'Account', cost: 10 }] }));
  class Service {
    readonly limiter: Limiter<Authenticated, 'Client' | 'Account'>;
    constructor(given: Limiter<Authenticated, 'Client' | 'Account'>) {
      this.limiter = given;
    }
    use(): RequestHandler {
      return expressRateLimit({ limiter: this.limiter, limits: ['Client'] });
    }
  }
  app.use(new Service(limiter).use());

  const options: Parameters<typeof expressRateLimit>[0] = numbers;
  app.use(expressRateLimit(options), expressRateLimit(loaded), expressRateLimit({ ...numbers, ...common }));
  for (const plan of Object.values(plans)) app.use(expressRateLimit(plan));
  app.use(
    expressRateLimit({
      ...numbers,
      onDenied: (req: Request, res: Response, _next: NextFunction, decision: Decision) =>
        res.status(429).json({ wait: decision.retryAfterMs, path: req.path }),
    }),
    expressRateLimit({ ...numbers, onDenied: async (_req, res) => void res.sendStatus(429) }),
    expressRateLimit({ ...numbers, settle: (_req, res) => (res.statusCode < 400 ? 0 : 1) }),
  );
};

const ofKoa = (): void => {
  interface State {
    user: { id: string };
  }
  interface Extra {
    db: { find(id: string): string };
  }
  const limit = koaRateLimit(numbers);
  const status = koaStatus({ limiter: createLimiter({ limits: { Orders: { key: clientNetwork(), ...numbers } } }) });
  const app = new Koa<State, Extra>();
  app.use(limit).use(status);
  app.use((ctx, next) => {
    ctx.body = ctx.db.find(ctx.state.user.id);
    return next();
  });
  app.use(limit).use((ctx) => {
    const left: number | undefined = ctx.state.rateLimit?.remaining;
    ctx.body = left;
  });
  new Koa().use(limit).use((ctx) => void (ctx.body = ctx.state.rateLimit?.remaining));
  const typed: Koa.Middleware<State, Extra> = limit;
  const answering: Koa.Middleware<State, Extra, ResBody> = limit;
  const plain: Koa.Middleware = limit;
  const all: Koa.Middleware<State, Extra>[] = [limit, typed, status];
  const short: (ctx: Koa.Context, next: Koa.Next) => unknown = limit;
  app.use(plain).use(all[0]!);
  new Koa()
    .use(short)
    .use((ctx, next) => limit(ctx, next))
    .use(async (ctx, next) => limit(ctx, next));
  app.use((ctx, next) => limit(ctx, next));
  new Koa<State, Extra>().use(answering);
  new Koa().use(koaRateLimit(loaded)).use(koaRateLimit({ ...numbers, ...common }));
  type Signed = Koa.Context & { account?: string };
  const limiter = createLimiter({
    limits: { Account: { key: accountId((ctx: Signed) => ctx.account ?? null), ...numbers } },
  });
  new Koa().use(koaRateLimit({ limiter, limits: ['Account'] }));
};

const ofFastify = async (): Promise<void> => {
  const status = fastifyStatus({
    limiter: createLimiter({ limits: { Orders: { key: clientNetwork(), ...numbers } } }),
  });
  const app = Fastify();
  await app.register(fastifyRateLimit, numbers);
  await app.register(fastifyRateLimit, loaded);
  await app.register(fastifyRateLimit, {
    ...numbers,
    ...common,
    hook: undefined,
    global: undefined,
    always: undefined,
  });
  await app.register(fastifyRateLimit, { global: false });
  app.get('/status', status);
  app.get<{ Params: Params; Reply: ResBody }>('/status/:id', status);
  app.post<{ Params: Params; Body: ReqBody; Querystring: Query; Reply: ResBody }>(
    '/orders/:id',
    { config: { rateLimit: { count: 5, period: '1m' } } },
    (request) => ({ ok: request.body.item > 0 && request.params.id !== request.query.q }),
  );
  const maybe = elsewhere.flag === true ? numbers : undefined;
  app.get('/maybe', { config: { rateLimit: maybe } }, () => 'ok');
  app.get('/cost', { config: { rateLimit: { cost: elsewhere.number, skip: undefined, hook: undefined } } }, () => 'ok');
  app.route<{ Params: Params }>({ method: 'GET', url: '/r/:id', config: { rateLimit: false }, handler: status });
  const plugin = async (instance: FastifyInstance): Promise<void> => {
    await instance.register(fastifyRateLimit, numbers);
  };
  await app.register(plugin);
  const secure = Fastify({ http2: true });
  await secure.register(fastifyRateLimit, numbers);
  secure.get('/status', status);
  const generic: RouteGenericInterface = {};
  void generic;
};

interface Env {
  Bindings: { KV: { get(key: string): string } };
  Variables: { user: { id: string } };
}

const ofHono = (): unknown => {
  const address = (): string => '203.0.113.7';
  const limit = honoRateLimit({ ...numbers, address });
  const status = honoStatus({
    limiter: createLimiter({ limits: { Orders: { key: clientNetwork(), ...numbers } } }),
    address,
  });
  const app = new Hono<Env>();
  app.use(limit);
  app.use('/api/*', limit);
  app.get('/status', status);
  const typed: MiddlewareHandler<Env> = limit;
  const ofPath: MiddlewareHandler<Env, '/orders/:id'> = limit;
  const all: MiddlewareHandler<Env>[] = [limit, typed];
  const factory = createFactory<Env>();
  const handlers = factory.createHandlers(limit, (c) => c.json({ ok: c.env.KV.get(c.var.user.id) !== '' }));
  app.get('/made', ...handlers);
  app.use(...(all as [MiddlewareHandler<Env>]));
  app.get('/orders/:id', ofPath, (c) => c.json({ id: c.req.param('id') }));
  app.use((c, next) => limit(c, next));
  app.use(honoRateLimit({ ...loaded, address }), honoRateLimit({ ...numbers, ...common, address }));
  app.use(honoRateLimit({ ...numbers, address: (c: HonoContext<Env>) => c.var.user.id }));
  // What follows it keeps its types.
  return app.post('/orders/:id', limit, (c) => {
    const id: string = c.req.param('id');
    const user: string = c.var.user.id;
    return c.json({ id, user, left: c.var.rateLimit?.remaining });
  });
};

const ofNode = (): void => {
  const limit = limitNode({ ...numbers, ...common, settle: undefined, onDenied: undefined });
  createServer(limit((request, response) => void response.end(String(request.rateLimit?.remaining))));
  createServer(
    limit(async (_request, response) => {
      response.end('ok');
    }),
  );
};

const ofFetch = (): unknown => {
  const limit = limitFetch({ ...numbers, ...common, address: () => '203.0.113.7', onDenied: undefined });
  interface Bindings {
    KV: { get(key: string): string };
  }
  interface Execution {
    waitUntil(promise: Promise<unknown>): void;
  }
  return {
    fetch: limit((request: globalThis.Request, env: Bindings, context: Execution) => {
      context.waitUntil(Promise.resolve());
      return new globalThis.Response(env.KV.get(request.url));
    }),
  };
};

export const all = [ofExpress, ofKoa, ofFastify, ofHono, ofNode, ofFetch];

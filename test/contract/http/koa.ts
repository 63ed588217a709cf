import type { ResponseEnd } from '@sluice/core/http';
import { limitsStatus, rateLimit } from '@sluice/koa';
import type Koa from 'koa';
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { andThen, ok, statusOf, type Context, type Framework, type Plan, type Protocol } from './framework.ts';

/** Koa of any version under the contract. */
export function koaFramework(name: string, KoaClass: new () => Koa, protocol: Protocol = 'HTTP/1.1'): Framework {
  return {
    name,
    protocol,
    ignoresHead: protocol === 'HTTP/2' && name === 'Koa 2',
    make: (options) => rateLimit(options as never),
    makeStatus: (options) => limitsStatus(options as never),
    async serve({
      before,
      limits = [],
      status,
      routes = {},
      trustsEveryProxy = false,
      plain,
      catchesAll = false,
      onError,
    }) {
      const app = new KoaClass();
      app.proxy = trustsEveryProxy;
      app.on('error', (error) => onError?.(error));
      if (catchesAll) app.use(catcher(onError));
      if (before !== undefined) app.use((ctx, next) => andThen(before(contextOf(ctx)), next));
      if (plain !== undefined) app.use(() => plain());
      for (const options of limits) app.use(rateLimit(options as never));
      const show = status === undefined ? undefined : limitsStatus(status as never);
      if (show !== undefined) app.use((ctx, next) => (ctx.path === '/rate_limit' ? show(ctx as never, next) : next()));
      for (const [path, { limits: own = [], handle = ok }] of Object.entries(routes)) {
        const at = (middleware: Koa.Middleware) =>
          app.use((ctx, next) => (ctx.path === path ? middleware(ctx as never, next) : next()));
        for (const options of own) at(rateLimit(options as never));
        at(async (ctx) => {
          const body = await handle(contextOf(ctx));
          if (body === undefined) ctx.respond = false;
          else ctx.body = body;
        });
      }
      return protocol === 'HTTP/2' ? createHttp2Server(app.callback()) : createServer(app.callback());
    },
    onDenied: (handle) => async (ctx: Koa.Context, decision: never) => {
      ctx.body = await handle(contextOf(ctx), decision);
    },
    settle: (trueCost) => ((ctx: Koa.Context, end: ResponseEnd) => trueCost(ctx.status, end)) as never,
  };
}

function catcher(onError: Plan['onError']): Koa.Middleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      onError?.(error);
      ctx.status = statusOf(error);
      ctx.body = 'failed';
    }
  };
}

function contextOf(ctx: Koa.ParameterizedContext): Context {
  return {
    incoming: ctx.req,
    outgoing: ctx.res,
    decision: ctx.state['rateLimit'],
    status: (code) => void (ctx.status = code),
    set: (name, value) => ctx.set(name, value),
  };
}

import { getRequestListener } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { ResponseEnd } from '@sluice/core/http';
import { limitsStatus, rateLimit } from '@sluice/hono';
import { Hono, type Context as HonoContext, type MiddlewareHandler } from 'hono';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { WEB_SKIPS } from './fetch.ts';
import { andThen, ok, statusOf, type Context, type Framework, type Handler } from './framework.ts';
import { streamed, WrittenStream } from './web-stream.ts';

/** Hono on Node under the contract. */
export const honoFramework: Framework = {
  name: 'Hono 4',
  protocol: 'HTTP/1.1',
  loses: ['a Proxy that throws'],
  skips: WEB_SKIPS,
  make: (options) => rateLimit(withAddress(options) as never),
  makeStatus: (options) => limitsStatus(withAddress(options) as never),
  async serve({ before, limits = [], status, routes = {}, plain, catchesAll = false, onError }) {
    const app = new Hono();
    const fail = (error: unknown, c: HonoContext): Response => {
      onError?.(error);
      return c.text('failed', statusOf(error) as never);
    };
    app.onError(fail);
    if (catchesAll) app.use(catcher(fail));
    app.use(withHeaders);
    if (before !== undefined) app.use(async (c, next) => andThen(before(contextOf(c)), next));
    if (plain !== undefined) app.use(async () => plain());
    for (const options of limits) app.use(rateLimit(withAddress(options) as never));
    if (status !== undefined) app.get('/rate_limit', limitsStatus(withAddress(status) as never));
    for (const [path, { limits: own = [], handle = ok }] of Object.entries(routes)) {
      const handlers = [...own.map((options) => rateLimit(withAddress(options) as never)), handlerOf(handle)];
      app.all(path, ...(handlers as [never]));
    }
    return createServer(getRequestListener(app.fetch as never));
  },
  onDenied: (handle) => async (c: HonoContext, decision: never) => c.body(await handle(contextOf(c), decision)),
  settle: (trueCost) => ((c: HonoContext, end: ResponseEnd) => trueCost(c.res.status, end)) as never,
};

function withAddress(options: unknown): unknown {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  return isObject ? { address: (c: HonoContext) => getConnInfo(c).remote.address, ...options } : options;
}

/** Hono's compose gives what is an Error to `onError`; other values go through all middlewares. */
function catcher(fail: (error: unknown, c: HonoContext) => Response): MiddlewareHandler {
  return async (c, next) => {
    try {
      await next();
      return undefined;
    } catch (error) {
      return fail(error, c);
    }
  };
}

/** The keys of the contract read the fields of a request by name. */
const withHeaders: MiddlewareHandler = async (c, next) => {
  Object.assign(c, { headers: nodeOf(c).incoming.headers });
  await next();
};

function handlerOf(handle: Handler) {
  return (c: HonoContext): Response | Promise<Response> => {
    const context = contextOf(c);
    const respond = (text: string | undefined): Response =>
      c.body((isEmpty() ? null : (text ?? streamed(context.outgoing))) as string);
    const isEmpty = (): boolean => statuses.get(c) === 204 || statuses.get(c) === 304;
    const body = handle(context);
    return body instanceof Promise ? body.then(respond) : respond(body);
  };
}

function nodeOf(c: HonoContext): { incoming: IncomingMessage; outgoing: ServerResponse } {
  return c.env as never;
}

const statuses = new WeakMap<HonoContext, number>();
const streams = new WeakMap<HonoContext, WrittenStream>();

function contextOf(c: HonoContext): Context {
  return {
    incoming: nodeOf(c).incoming,
    get outgoing() {
      const known = streams.get(c) ?? new WrittenStream((done) => nodeOf(c).outgoing.once('close', done));
      streams.set(c, known);
      return known as never;
    },
    decision: c.var.rateLimit,
    status(code) {
      statuses.set(c, code);
      c.status(code as never);
    },
    set: (name, value) => c.header(name, value),
  };
}

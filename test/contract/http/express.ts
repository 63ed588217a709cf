import type { ResponseEnd } from '@sluice/core/http';
import { limitsStatus, rateLimit } from '@sluice/express';
import type { ErrorRequestHandler, Express, NextFunction, Request, RequestHandler, Response } from 'express';
import { createServer } from 'node:http';
import { andThen, ok, statusOf, type Context, type Framework, type Handler, type Options } from './framework.ts';

/** Express of any version under the contract. */
export function expressFramework(name: string, express: () => Express): Framework {
  return {
    name,
    protocol: 'HTTP/1.1',
    make: (options) => rateLimit(options as never),
    makeStatus: (options) => limitsStatus(options as never),
    async serve({ before, limits = [], status, routes = {}, trustsEveryProxy = false, plain, onError }) {
      const app = express();
      if (trustsEveryProxy) app.set('trust proxy', true);
      if (before !== undefined) app.use((req, res, next) => void andThen(before(contextOf(req, res)), () => next()));
      if (plain !== undefined) app.use(() => plain());
      for (const options of limits) app.use(middleware(options));
      if (status !== undefined) app.get('/rate_limit', limitsStatus(status as never));
      for (const [path, route] of Object.entries(routes)) {
        app.all(path, ...(route.limits ?? []).map(middleware), handlerOf(route.handle ?? ok));
      }
      const errorHandler: ErrorRequestHandler = (error: unknown, _req, res, _next) => {
        onError?.(error);
        res.status(statusOf(error)).send('failed');
      };
      app.use(errorHandler);
      return createServer(app as never);
    },
    onDenied: (handle) => async (req: Request, res: Response, _next: NextFunction, decision: never) =>
      res.send(await handle(contextOf(req, res), decision)),
    settle: (trueCost) => ((_req: Request, res: Response, end: ResponseEnd) => trueCost(res.statusCode, end)) as never,
  };
}

function middleware(options: Options): RequestHandler {
  return rateLimit(options as never);
}

// Express 4 does not wait for handlers, so this one hands on what it throws itself.
function handlerOf(handle: Handler): RequestHandler {
  return (req, res, next) => {
    const run = async (): Promise<void> => {
      const body = await handle(contextOf(req, res));
      if (body !== undefined) res.send(body);
    };
    run().catch(next);
  };
}

function contextOf(req: Request, res: Response): Context {
  return {
    incoming: req,
    outgoing: res,
    decision: req.rateLimit,
    status: (code) => void res.status(code),
    set: (name, value) => void res.setHeader(name, value),
  };
}

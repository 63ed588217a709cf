import {
  All,
  Catch,
  Controller,
  Module,
  Req,
  Res,
  UseGuards,
  type ArgumentsHost,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type INestApplication,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { RequestDecision, ResponseEnd } from '@sluice/core/http';
import { rateLimit, RateLimitFilter } from '@sluice/nestjs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { andThen, ok, statusOf, type Context, type Framework, type Options, type Plan } from './framework.ts';

/** What differs between the platforms of Nest. */
interface Platform {
  readonly name: string;
  make(plan: Plan): Promise<INestApplication>;
  /** What a platform does when it begins to listen. */
  ready(app: INestApplication): Promise<void>;
  contextOf(request: Native, response: Native): Context;
  send(response: Native, body: string): unknown;
}

/** A request or a response of a platform, of which the fixture uses what its kind has. */
type Native = any;

/** The text of an answer of `onDenied`, whose status the context has set. */
class OwnAnswer extends Error {}

const ROUTES_ALONE = 'Nest calls guards for routes alone';

const SKIPS: Readonly<Record<string, string>> = {
  'status of limits': 'in Nest the `limitsStatus` of its platform serves it',
  'a path without a route is limited too': ROUTES_ALONE,
  'a 404 reports the limits': ROUTES_ALONE,
  'a store that answers at once adds no tick before the handler': 'Nest calls handlers some ticks after their guards',
};

/** Nest under the contract, by guards of the whole application and guards of a handler. */
export function nestFramework(platform: Platform): Framework {
  return {
    name: `Nest 11 on ${platform.name}`,
    protocol: 'HTTP/1.1',
    skips: SKIPS,
    make: (options) => rateLimit(options as never),
    // Nest looks for a filter by `instanceof`.
    loses: ['a Proxy that throws'],
    makeStatus: () => {
      throw new Error('There is no limitsStatus.');
    },
    async serve(plan) {
      const app = await platform.make(plan);
      app.useGlobalGuards(...(plan.limits ?? []).map(guard));
      app.useGlobalFilters(catcher(platform, plan.onError), new RateLimitFilter());
      await app.init();
      await platform.ready(app);
      return app.getHttpServer() as never;
    },
    onDenied: (handle) => async (context: ExecutionContext, decision: never) =>
      new OwnAnswer(await handle(contextOf(platform, context), decision)),
    settle: (trueCost) =>
      ((context: ExecutionContext, end: ResponseEnd) =>
        trueCost(context.switchToHttp().getResponse<{ statusCode: number }>().statusCode, end)) as never,
  };
}

/** The keys of the contract read the fields of a request by name. */
function guard(options: Options): CanActivate {
  const limits = rateLimit(options as never);
  return {
    canActivate: (context) =>
      limits.canActivate(Object.assign(context, { headers: context.switchToHttp().getRequest().headers })),
  };
}

function contextOf(platform: Platform, host: ArgumentsHost): Context {
  const http = host.switchToHttp();
  return platform.contextOf(http.getRequest(), http.getResponse());
}

function catcher(platform: Platform, report: Plan['onError']): ExceptionFilter {
  class Catcher implements ExceptionFilter {
    catch(error: unknown, host: ArgumentsHost): void {
      const response = host.switchToHttp().getResponse();
      if (error instanceof OwnAnswer) return void platform.send(response, error.message);
      report?.(error);
      contextOf(platform, host).status(statusOf(error));
      platform.send(response, 'failed');
    }
  }
  Catch()(Catcher);
  return new Catcher();
}

/** A controller with a method for each route. */
function moduleOf(platform: Pick<Platform, 'contextOf' | 'send'>, { routes = {} }: Plan): new () => object {
  class Routes {}
  const prototype = Routes.prototype as Record<string, unknown>;
  for (const [i, [path, { limits = [], handle = ok }]] of Object.entries(routes).entries()) {
    const name = `route${i}`;
    prototype[name] = async (request: Native, response: Native) => {
      const body = await handle(platform.contextOf(request, response));
      if (body !== undefined) platform.send(response, body);
    };
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
    All(path)(prototype, name, descriptor);
    if (limits.length > 0) UseGuards(...limits.map(guard))(prototype, name, descriptor);
    Req()(prototype, name, 0);
    Res()(prototype, name, 1);
  }
  Controller()(Routes);
  class App {}
  Module({ controllers: [Routes] })(App);
  return App;
}

const QUIET = { logger: false, bodyParser: false } as const;

/** Nest on Express. */
export const onExpress: Platform = {
  name: 'Express',
  ready: async () => undefined,
  async make(plan) {
    const app = await NestFactory.create(moduleOf(onExpress, plan), new ExpressAdapter(), QUIET);
    const { before, plain, trustsEveryProxy = false } = plan;
    if (trustsEveryProxy) app.getHttpAdapter().getInstance().set('trust proxy', true);
    if (before !== undefined)
      app.use(
        (req: Native, res: Native, next: () => void) => void andThen(before(onExpress.contextOf(req, res)), next),
      );
    if (plain !== undefined) app.use(() => plain());
    return app;
  },
  contextOf: (incoming: IncomingMessage & { rateLimit?: RequestDecision }, outgoing: ServerResponse) => ({
    incoming,
    outgoing,
    decision: incoming.rateLimit,
    status: (code) => void (outgoing.statusCode = code),
    set: (name, value) => void outgoing.setHeader(name, value),
  }),
  send: (response: Native, body) => response.send(body),
};

/** Nest on Fastify. */
export const onFastify: Platform = {
  name: 'Fastify',
  ready: async (app) => app.getHttpAdapter().getInstance().ready(),
  async make(plan) {
    const { before, plain, trustsEveryProxy = false } = plan;
    const adapter = new FastifyAdapter({ trustProxy: trustsEveryProxy });
    const app = await NestFactory.create(moduleOf(onFastify, plan), adapter, QUIET);
    const instance: Native = app.getHttpAdapter().getInstance();
    if (before !== undefined)
      instance.addHook(
        'onRequest',
        (request: Native, reply: Native, next: () => void) =>
          void andThen(before(onFastify.contextOf(request, reply)), () => next()),
      );
    if (plain !== undefined) instance.addHook('onRequest', (): void => plain());
    return app;
  },
  contextOf: (request: Native, reply: Native) => ({
    incoming: request.raw,
    outgoing: reply.raw,
    decision: request.rateLimit,
    status: (code) => void reply.code(code),
    set: (name, value) => void reply.header(name, value),
  }),
  send: (reply: Native, body) => reply.send(body),
};

import type { Decision } from '@sluice/core';
import {
  checkBoolean,
  endIfBegun,
  errorOf,
  flowSettings,
  runFlow,
  type MiddlewareOptions,
  type Refusal,
  type RequestDecision,
} from '@sluice/core/http';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import { FastifyExchange, sendRefusal } from './exchange.ts';
import { checkedHook, type Hook } from './hook.ts';
import { RouteTable, unknownLimits, type RouteLimits, type RouteSettings, type SettleArgs } from './route-limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the limits decided about this request; left out when none was asked. */
    rateLimit?: RequestDecision | undefined;
  }
  interface FastifyContextConfig {
    /** The limits of this route instead of the plugin's own; `false` for none. */
    rateLimit?: RouteLimits | false;
  }
}

/** Answers a refused request in your own way: the fields are set, the status is not. What it returns is sent. */
export type OnDenied = (request: FastifyRequest, reply: FastifyReply, decision: Decision) => unknown;

/** The options of the plugin. */
export type RateLimitOptions = MiddlewareOptions<FastifyRequest, SettleArgs> & {
  /** Where requests are limited. Default: `onRequest`, before authentication. */
  readonly hook?: Hook | undefined;
  /** Whether routes without a `config.rateLimit` are limited, and 404s. Default: true. */
  readonly global?: boolean | undefined;
  /** Answers a refused request in your own way. Default: a 429 (503 when the store can't answer) with problem details. */
  readonly onDenied?: OnDenied | undefined;
};

/** Routes with limits of their own that one registration has decided for a request: no other decides them again. */
const decided = new WeakSet<FastifyRequest>();

/** Routes whose limits some registration knows. A route is one object for all of them. */
const taken = new WeakSet<RouteOptions>();

/** The plugin itself: hooks on the instance, so that routes defined before it and 404s are covered too. */
export function plugin(instance: FastifyInstance, options: RateLimitOptions, done: (error?: Error) => void): void {
  const { hook = 'onRequest', global: globally = true } = options ?? {};
  checkedHook('hook', hook);
  checkBoolean('global', globally);
  const base = flowSettings<FastifyRequest, SettleArgs>(options, ['hook', 'global', 'onDenied']);
  const routes = new RouteTable(base);
  const refuse = refuser(base, options.onDenied);
  /** The routes with limits of their own that were defined since. */
  const met = new Map<RouteOptions, RouteLimits>();
  const metLimits = new WeakSet<RouteLimits>();

  const limit = (settings: RouteSettings, request: FastifyRequest, reply: FastifyReply, next: Next): void => {
    const refusal = runFlow(settings, new FastifyExchange(request, reply), [request, reply]);
    const proceed = (settled: Refusal | null): void => {
      if (settled === null) return next();
      try {
        refuse(request, reply, settled, next);
      } catch (error) {
        // Behind a promise Fastify does not catch it.
        next(errorOf(error) as Error);
      }
    };
    if (refusal instanceof Promise) refusal.then(proceed, next);
    else proceed(refusal);
  };
  const hookAt = (phase: Hook): onRequestHookHandler => {
    return function rateLimitHook(request, reply, next) {
      const route = request.routeOptions.config.rateLimit;
      if (route === undefined) return globally ? limit(base, request, reply, next) : next();
      if (route !== false && !metLimits.has(route)) routes.checkEarly(request.routeOptions.url, route, hook);
      const settings = settingsAt(phase, route, request);
      if (settings === null) next();
      else limit(settings, request, reply, next);
    };
  };
  const settingsAt = (phase: Hook, route: RouteLimits | false, request: FastifyRequest): RouteSettings | null => {
    if (route === false || (route.hook ?? hook) !== phase) return null;
    const settings = routes.settingsOf(route);
    if (settings === null || route.limits === undefined) return settings;
    if (decided.has(request)) return null;
    decided.add(request);
    return settings;
  };

  if (!instance.hasRequestDecorator('rateLimit')) instance.decorateRequest('rateLimit', undefined);
  instance.addHook(hook as 'onRequest', hookAt(hook));
  instance.addHook('onRoute', (route) => {
    const limits = route.config?.rateLimit;
    if (limits === undefined || limits === false) return;
    const settings = routes.settingsOf(limits);
    met.set(route, limits);
    metLimits.add(limits);
    if (settings === null) return;
    taken.add(route);
    const own = limits.hook ?? hook;
    if (own !== hook) route[own] = [hookAt(own), ...[route[own] ?? []].flat()] as never;
  });
  instance.addHook('onReady', (ready) => {
    const open = [...met].find(([route]) => !taken.has(route));
    ready(open === undefined ? undefined : unknownLimits(open[0].url, open[1]));
  });
  done();
}

type Next = (error?: Error) => void;
type Refuse = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal, fail: Next) => void;

function refuser(settings: RouteSettings, onDenied: OnDenied | undefined): Refuse {
  if (onDenied === undefined) return (_request, reply, refusal) => sendRefusal(settings, reply, refusal);
  return (request, reply, { decision }, fail) => {
    new Promise((resolve) => resolve(onDenied(request, reply, decision)))
      .then((answer) => {
        if (answer === undefined || answer === reply || reply.sent) return;
        if (!endIfBegun(settings, reply.raw)) void reply.send(answer);
      })
      .catch((error: unknown) => fail(errorOf(error) as Error));
  };
}

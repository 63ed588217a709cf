import { SluiceError, type Awaitable, type Decision } from '@sluice/core';
import {
  endIfBegun,
  errorOf,
  flowSettings,
  runFlow,
  type FlowOutcome,
  type FlowOptions,
  type InlineRate,
  type InlineSettings,
  type MiddlewareOptions,
  type Denial,
  type RequestDecision,
} from '@sluice/core/http';
import { checkBoolean, isPlainObject } from '@sluice/core/kit';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import { FastifyExchange, sendDenial } from './exchange.ts';
import { followedHandler } from './handled.ts';
import { checkedHook, type Hook } from './hook.ts';
import { misplacedLimits } from './misplaced-limits.ts';
import { Registration } from './registration.ts';
import {
  ownNumbers,
  routeDefaults,
  unusedConfig,
  type RouteLimit,
  type RouteLimits,
  type RouteSettings,
  type SettleArgs,
} from './route-limits.ts';
import { noteRegistration } from './unregistered.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The decision about this request, the strictest of all limits so far; left out if no limit applied. */
    rateLimit?: RequestDecision | undefined;
  }
  interface FastifyContextConfig {
    /**
     * The limits of this route instead of the plugin's, or one limit of its own by its numbers; `false` for no limits.
     * Limits with `always` still apply.
     */
    rateLimit?: RouteLimits | RouteLimit | false | undefined;
  }
}

/**
 * Answers a request that was denied, or that could not be decided because the store is unavailable. The header fields
 * about the limits are already set, the status is not. A result other than `undefined` is sent; errors go to Fastify's
 * error handler.
 */
export type OnDenied = (request: FastifyRequest, reply: FastifyReply, decision: Decision) => unknown;

/** The options of the plugin {@link rateLimit}: those of limits, or only options for the limits of routes. */
export type RateLimitOptions = (MiddlewareOptions<FastifyRequest, SettleArgs> & PluginOptions) | RoutesOnly;

/** The options of a registration without limits: those for routes that have their own in `config.rateLimit`. */
export interface RoutesOnly
  extends
    FlowOptions<FastifyRequest>,
    Pick<InlineSettings<FastifyRequest>, RouteSettingsNames>,
    Pick<InlineRate<FastifyRequest>, 'key'>,
    Omit<PluginOptions, 'always'> {
  readonly global: false;
  readonly limiter?: never;
  readonly count?: never;
  readonly period?: never;
}

type RouteSettingsNames =
  | 'store'
  | 'trustedProxies'
  | 'addressHeader'
  | 'decodeNat64'
  | 'failure'
  | 'onEvent'
  | 'log'
  | 'time';

interface PluginOptions {
  /** The hook in which requests are limited. Default: `onRequest`, which comes before authentication. */
  readonly hook?: Hook | undefined;
  /** Whether routes without a `config.rateLimit` and 404s are limited. Default: true. */
  readonly global?: boolean | undefined;
  /**
   * Whether the limits apply to every request, even if the `config.rateLimit` of its route is `false` or has other
   * limits. The limits of a route are then decided after these. `skip` still exempts requests. Default: false.
   */
  readonly always?: boolean | undefined;
  /**
   * Answers a request that does not pass. Default: problem details (RFC 9457) with status 429, 403 for a blocked id, or
   * 503 if the service has no room or the store is unavailable.
   */
  readonly onDenied?: OnDenied | undefined;
}

/** The plugin. It adds hooks to the instance, so that 404s and routes that were defined before it are limited too. */
export function plugin(instance: FastifyInstance, options: RateLimitOptions, done: (error?: Error) => void): void {
  const registration = checkedRegistration(options);
  const send = denialSender(registration.base, options.onDenied);

  /** Decides the settings in order. The first denial ends the request. */
  const decide = (all: readonly RouteSettings[], request: FastifyRequest, reply: FastifyReply, next: Next): void => {
    const [settings] = all;
    if (settings === undefined) return next();
    const proceed = (settled: FlowOutcome): void => {
      if (settled === null) return all.length === 1 ? next() : decide(all.slice(1), request, reply, next);
      if (settled === 'left') return;
      try {
        send(request, reply, settled, next);
      } catch (error) {
        // Fastify does not catch errors after a promise.
        next(errorOf(error) as Error);
      }
    };
    let outcome: Awaitable<FlowOutcome>;
    try {
      outcome = runFlow(settings, new FastifyExchange(request, reply), [request, reply]);
    } catch (error) {
      return next(error as Error);
    }
    if (outcome instanceof Promise) outcome.then(proceed, next);
    else proceed(outcome);
  };
  const hookAt = (phase: Hook): onRequestHookHandler => {
    return function rateLimitHook(request, reply, next) {
      decide(registration.settingsAt(phase, request), request, reply, next);
    };
  };

  noteRegistration(instance);
  if (!instance.hasRequestDecorator('rateLimit')) instance.decorateRequest('rateLimit', undefined);
  instance.addHook(registration.hook as 'onRequest', hookAt(registration.hook));
  const warnOfMisplaced = (route: RouteOptions): void => {
    const message = misplacedLimits(route);
    if (message !== undefined) registration.base.limiter.emit({ type: 'warning', message, once: true });
  };
  instance.addHook('onRoute', (route) => {
    warnOfMisplaced(route);
    const hook = registration.meet(route);
    if (registration.base.heldUntil === 'handler' || isUntilHandler(route)) {
      route.handler = followedHandler(route.handler);
    }
    if (hook !== undefined) route[hook] = [hookAt(hook), ...[route[hook] ?? []].flat()] as never;
  });
  instance.addHook('onReady', (ready) => {
    const unused = registration.unused();
    ready(unused === undefined ? undefined : unusedConfig(unused[0].url, unused[1], registration.isBare));
  });
  done();
}

function checkedRegistration(options: RateLimitOptions): Registration {
  const { hook = 'onRequest', global = true, always = false } = (options ?? {}) as PluginOptions;
  checkedHook('hook', hook);
  checkBoolean('global', global);
  checkBoolean('always', always);
  if (always && !global) {
    throw new SluiceError(
      'ERR_OPTION',
      '`global` must be true or left out with `always: true`, because such a registration applies to every request.',
    );
  }
  const isBare = isPlainObject(options) && !global && !('limiter' in options) && !ownNumbers(options);
  const base = flowSettings<FastifyRequest, SettleArgs>(
    isBare ? withoutLimit(options as RoutesOnly) : (options as never),
    ['hook', 'global', 'always', 'onDenied'],
  );
  const defaults = 'limiter' in options ? undefined : routeDefaults(options);
  return new Registration({ base, hook, global, always, isBare, defaults });
}

/** A limit that is disabled, so that all other options are checked as usual. The store is that of limits of routes. */
function withoutLimit({ store: _store, ...options }: RoutesOnly): MiddlewareOptions<FastifyRequest, SettleArgs> {
  return { ...options, count: 1, period: '1s', disabled: true };
}

function isUntilHandler({ config }: RouteOptions): boolean {
  const limits = config?.rateLimit;
  return typeof limits === 'object' && 'slotsUntil' in limits && limits.slotsUntil === 'handler';
}

type Next = (error?: Error) => void;
type SendDenial = (request: FastifyRequest, reply: FastifyReply, denial: Denial, fail: Next) => void;

function denialSender(settings: RouteSettings, onDenied: OnDenied | undefined): SendDenial {
  if (onDenied === undefined) return (_request, reply, denial) => sendDenial(settings, reply, denial);
  return (request, reply, { decision }, fail) => {
    new Promise((resolve) => resolve(onDenied(request, reply, decision)))
      .then((answer) => {
        if (answer === undefined || answer === reply || reply.sent) return;
        if (!endIfBegun(settings, reply.raw)) void reply.send(answer);
      })
      .catch((error: unknown) => fail(errorOf(error) as Error));
  };
}

import type { ExecutionContext } from '@nestjs/common';
import { SluiceError, type Awaitable, type Decision } from '@sluice/core';
import {
  errorOf,
  runFlow,
  type Denial,
  type Exchange,
  type FlowSettings,
  type MiddlewareOptions,
  type RequestDecision,
} from '@sluice/core/http';
import { missingResolver, notOfPlatform, type ContextResolvers, type ResolvedContext } from './contexts.ts';
import { MessageExchange, senderAt, senderOf } from './message-exchange.ts';
import { platformExchange } from './platform-exchange.ts';
import { exceptionOf } from './rate-limit-exception.ts';

/** The arguments of `settle` functions, before the end of the response. */
export type SettleArgs = readonly [context: ExecutionContext];

/** The limits of a handler, validated and prepared. */
export type Settings = FlowSettings<ExecutionContext, SettleArgs>;

/**
 * Returns, or resolves to, what is thrown for a denied request instead of a `RateLimitException`. The header fields
 * are set.
 */
export type OnDenied = (context: ExecutionContext, decision: Decision) => unknown;

/** The options of {@link rateLimit}. */
export type RateLimitOptions<Name extends string = string> = MiddlewareOptions<ExecutionContext, SettleArgs, Name> &
  ContextOptions;

/** The options that only this package has. */
export interface ContextOptions {
  /**
   * How requests are found in other contexts than HTTP, by type: `graphql`, `ws`, `rpc`, or your own. A handler with limits
   * in a context without a resolver is an error.
   */
  readonly contexts?: ContextResolvers | undefined;
  /** Replaces the exception for a request that does not pass, see {@link OnDenied}. */
  readonly onDenied?: OnDenied | undefined;
}

/** The names of {@link ContextOptions}. */
export const CONTEXT_OPTIONS: readonly string[] = ['contexts', 'onDenied'];

/** What of the options decides how requests are found and denied. */
export interface Admission {
  readonly contexts: ContextResolvers;
  readonly onDenied: OnDenied | undefined;
}

/**
 * Decides a request by the limits of its handler.
 *
 * @returns True when it may continue. When the client has disconnected, the promise stays pending: neither the handler nor
 * a filter runs.
 * @throws What is thrown for a denied request, and the errors of the functions of the limits.
 */
export function admit(admission: Admission, settings: Settings, context: ExecutionContext): Awaitable<true> {
  const resolved = resolve(admission.contexts, context);
  const outcome = runFlow(settings, exchangeOf(context, resolved), [context]);
  if (outcome === null) return true;
  const request = { admission, settings, context, resolved };
  if (!(outcome instanceof Promise)) return stop(outcome, request);
  return outcome.then((settled) => settled === null || stop(settled, request));
}

/** A request whose handler does not run, or not at once. */
interface StoppedRequest {
  readonly admission: Admission;
  readonly settings: Settings;
  readonly context: ExecutionContext;
  readonly resolved: ResolvedContext;
}

function stop(outcome: Denial | 'left', { admission, settings, context, resolved }: StoppedRequest): Promise<never> {
  if (outcome === 'left') return new Promise(() => undefined);
  if (admission.onDenied !== undefined) return denyBy(admission.onDenied, context, outcome.decision);
  const exception = exceptionOf({ settings, denial: outcome });
  throw errorOf(resolved.thrown === undefined ? exception : resolved.thrown(exception));
}

async function denyBy(onDenied: OnDenied, context: ExecutionContext, decision: Decision): Promise<never> {
  let error: unknown;
  try {
    error = await onDenied(context, decision);
  } catch (cause) {
    throw errorOf(cause);
  }
  if (error !== undefined) throw errorOf(error);
  throw new SluiceError(
    'ERR_OPTION',
    '`onDenied` must return what is thrown for the denied request, but returned undefined. For example onDenied: () => new ' +
      'HttpException("Slow down", 429).',
  );
}

function resolve(contexts: ContextResolvers, context: ExecutionContext): ResolvedContext {
  const type = context.getType();
  const resolver = Object.hasOwn(contexts, type) ? contexts[type] : undefined;
  if (resolver === undefined) throw missingResolver(type, handlerName(context));
  return resolver(context);
}

function handlerName(context: ExecutionContext): string {
  return `${context.getClass().name}.${context.getHandler().name}`;
}

type ContextExchange = Exchange<ExecutionContext> & { decision: RequestDecision | undefined };

function exchangeOf(context: ExecutionContext, resolved: ResolvedContext): ContextExchange {
  const { request, response, address, headers } = resolved;
  if (request === undefined) return new MessageExchange(context, senderAt(address, headers));
  if (response === undefined) return new MessageExchange(context, senderOf(request));
  const exchange = platformExchange(context, request, response);
  if (exchange === undefined) throw notOfPlatform(context.getType());
  return exchange;
}

import type { ExecutionContext } from '@nestjs/common';
import type { Awaitable, Decision } from '@sluice/core';
import {
  errorOf,
  runFlow,
  type Denial,
  type Exchange,
  type FlowOutcome,
  type FlowSettings,
  type MiddlewareOptions,
  type RequestDecision,
} from '@sluice/core/http';
import { missingResolver, notOfPlatform, type ContextResolvers, type ResolvedContext } from './contexts.ts';
import { MessageExchange, senderAt, senderOf } from './message-exchange.ts';
import { platformExchange } from './platform-exchange.ts';
import { exceptionOf, type RateLimitException } from './rate-limit-exception.ts';

/** The arguments of `settle` functions, before the end of the response. */
export type SettleArgs = readonly [context: ExecutionContext];

/** The limits of a handler, validated and prepared. */
export type Settings = FlowSettings<ExecutionContext, SettleArgs>;

/**
 * Returns, or resolves to, what is thrown for a denied request instead of a {@link RateLimitException}. The header fields
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
 * @returns True when it may continue. Never settles when its client has left: there is nobody to be answered.
 * @throws What is thrown for a denied request, and the errors of the functions of the limits.
 */
export function admit(admission: Admission, settings: Settings, context: ExecutionContext): Awaitable<true> {
  const resolved = resolve(admission.contexts, context);
  const exchange = exchangeOf(context, resolved);
  const carryOut = (outcome: FlowOutcome): Awaitable<true> => {
    if (outcome === null) return true;
    if (outcome === 'left') return new Promise<never>(() => undefined);
    const exception = exceptionOf({ settings, denial: outcome }, retryAfterOf(exchange));
    return deny(admission, resolved, { context, exception, denial: outcome });
  };
  const outcome = runFlow(settings, exchange, [context]);
  return outcome instanceof Promise ? outcome.then(carryOut) : carryOut(outcome);
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

function retryAfterOf(exchange: ContextExchange): number | undefined {
  const seconds = exchange.getField('Retry-After');
  return seconds === undefined ? undefined : Number(seconds);
}

interface Denied {
  readonly context: ExecutionContext;
  readonly exception: RateLimitException;
  readonly denial: Denial;
}

function deny({ onDenied }: Admission, { thrown }: ResolvedContext, denied: Denied): Promise<never> {
  const { context, exception, denial } = denied;
  if (onDenied === undefined) throw errorOf(thrown === undefined ? exception : thrown(exception));
  return new Promise((_resolve, reject) => {
    // Not `reject(onDenied(…))`: it may return a promise.
    Promise.resolve()
      .then(() => onDenied(context, denial.decision))
      .then((value) => reject(errorOf(value)))
      .catch((cause: unknown) => reject(errorOf(cause)));
  });
}

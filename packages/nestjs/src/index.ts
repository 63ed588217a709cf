/**
 * Rate limits for NestJS: the module {@link RateLimitModule}, its {@link RateLimitGuard} and the decorators {@link Limits}
 * and {@link Unlimited}; {@link rateLimit} for a guard without the module; {@link rateLimitStorage} for
 * `@nestjs/throttler`.
 *
 * @module
 */
import type { RequestDecision } from '@sluice/core/http';

export type { ContextOptions, OnDenied, RateLimitOptions, SettleArgs } from './admission.ts';
export {
  graphqlContext,
  httpContext,
  microserviceContext,
  webSocketContext,
  type ContextResolver,
  type ContextResolvers,
  type ExceptionClass,
  type ResolvedContext,
} from './contexts.ts';
export { Limits, Unlimited, type HandlerDecorator, type HandlerLimit } from './decorators.ts';
export type { ModuleLimiter, RateLimitModuleOptions } from './handler-limits.ts';
export { RateLimitException, type Problem } from './rate-limit-exception.ts';
export { RateLimitFilter } from './rate-limit-filter.ts';
export { rateLimit, RateLimitGuard, type HandlerAdmission } from './rate-limit-guard.ts';
export { RATE_LIMIT_OPTIONS, RateLimitModule, type RateLimitModuleAsyncOptions } from './rate-limit-module.ts';
export {
  rateLimitStorage,
  type RateLimitStorage,
  type RateLimitStorageOptions,
  type ThrottlerRecord,
} from './throttler-storage.ts';

/** A request of Express or Fastify with the decision about it: `@Req() request: LimitedRequest<Request>`. */
export type LimitedRequest<Request extends object> = Request & {
  /** The decision about this request, the strictest of all limits so far; left out if no limit applied. */
  rateLimit?: RequestDecision;
};

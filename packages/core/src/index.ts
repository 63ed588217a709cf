/**
 * Rate limiting by the generic cell rate algorithm (GCRA). A bucket is one number, and all limits of a request are
 * decided together: the request takes tokens from all its buckets or from none.
 *
 * Start with {@link createLimiter} for decisions without HTTP, or with `rateLimit` of `@sluice/express`, `@sluice/koa`
 * or `@sluice/fastify`. {@link Limiter} describes when to use `spend`, `check`, `charge`, `refund` and `reset`.
 *
 * @module
 */
export type { Awaitable } from './async/awaitable.ts';
export { SluiceError, type ErrorCode, type ErrorKind } from './checks/errors.ts';
export type { ClientAddressOptions } from './client/client-address.ts';
export type { Decision, Outcome } from './decision/decision.ts';
export type { BucketState, Result } from './decision/result.ts';
export type { LimiterEvent } from './events/event.ts';
export type { Log } from './events/event-sink.ts';
export type { FailureOptions } from './limits/failure-options.ts';
export type { StoreMessage, StoreStatus } from './failure/store-health.ts';
export { fromHeaders } from './http/caller-deadline.ts';
export type { FieldsDialect } from './http/fields.ts';
export type { RequestDecision } from './http/request-decision.ts';
export type { IdFormat } from './ids/id-format.ts';
export { IpAddress } from './ids/ip-address.ts';
export { clientNetwork, ipAddress, ipv6RangeCIDR, type ClientNetworkOptions } from './keys/address-keys.ts';
export { compound } from './keys/compound-key.ts';
export { everyone } from './keys/everyone.ts';
export { accountId, by, type Key } from './keys/key.ts';
export type { LimitOfKind } from './kinds/limit-of-kind.ts';
export type { Rate } from './kinds/rate/rate.ts';
export { createLimiter, type LimiterOptions } from './limiter/create-limiter.ts';
export type { BlockEntry } from './limiter/block-entry.ts';
export type { CostEntry, SpendEntry } from './limiter/entry.ts';
export type { LimitDescription } from './limiter/limit-description.ts';
export type { LimitHandle } from './limiter/limit-handle.ts';
export type { Limiter } from './limiter/limiter.ts';
export type { DecisionContext, DecisionMessage, OnDecision } from './limiter/reports.ts';
export type { RestrictEntry } from './limiter/restriction.ts';
export type { RunOptions } from './limiter/run-options.ts';
export type { Settlement } from './limiter/settlement.ts';
export type { SpendOptions } from './limiter/spend-options.ts';
export type { Usage } from './limiter/usage.ts';
export type { FailurePolicy } from './limits/failure-policy.ts';
export type { LimitDefinition, Limits, RateDefinition } from './definitions/limit-definition.ts';
export type { LimitSetOptions } from './definitions/limit-set.ts';
export type { OverrideFunction } from './definitions/overrides/override-function.ts';
export { OverrideList, type OverriddenLimit, type OverrideTable } from './definitions/overrides/override-list.ts';
export type { Override } from './definitions/overrides/override.ts';
export type { Duration } from './rule/duration.ts';
export type { LimitStats, MemoryStats } from './store/memory/memory-stats.ts';
export { memoryStore, type MemoryStore, type MemoryStoreOptions } from './store/memory/memory-store.ts';
export type { ReadyOptions } from './store/ready-options.ts';
export type { Store } from './store/store.ts';
export type { Time } from './time/time.ts';

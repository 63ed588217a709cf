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
export { bucketKey } from './store/bucket-key.ts';
export { endOfPeriod, StalePeriodError, type CalendarPeriod } from './store/calendar-period.ts';
export type { Alarm, Cancel, Time } from './time/time.ts';
export { createLimiter, type LimiterOptions, type LimiterSettings } from './limiter/create-limiter.ts';
export type { Decision, Outcome } from './decision/decision.ts';
export type { BucketState, Result } from './decision/result.ts';
export type { Duration } from './rule/duration.ts';
export { SluiceError, type ErrorCode, type ErrorKind } from './checks/errors.ts';
export type { LimiterEvent } from './events/event.ts';
export type { FailureOptions } from './failure/failure-options.ts';
export type { BorrowDefinition, BorrowOverride } from './kinds/borrow/borrow.ts';
export type { FailurePolicy } from './limits/failure-policy.ts';
export type {
  ConcurrencyDefinition,
  LimitDefinition,
  LimitDefinitions,
  LimitSettings,
  LoadDefinition,
  QuotaDefinition,
  RateDefinition,
} from './definitions/limit-definition.ts';
export type { AnchorDate } from './kinds/quota/limit-calendar.ts';
export type { QuotaNumbers, QuotaOverride } from './kinds/quota/quota.ts';
export type { CalendarUnit } from './calendar/calendar.ts';
export type { Failure } from './decision/batch-answer.ts';
export type { StoreMessage, StoreStatus } from './failure/store-health.ts';
export type { ClientAddressOptions } from './client/client-address.ts';
export type { FieldsDialect } from './http/fields.ts';
export type { RequestDecision } from './http/request-decision.ts';
export type { IdFormat } from './ids/id-format.ts';
export { IpAddress } from './ids/ip-address.ts';
export { accountId, by, keyFrom, type IdValue, type Key, type KeySource } from './keys/key.ts';
export { clientNetwork, ipAddress, ipv6RangeCIDR, type ClientNetworkOptions } from './keys/address-keys.ts';
export { compound } from './keys/compound-key.ts';
export { everyone } from './keys/everyone.ts';
export type { LimitSetOptions } from './definitions/limit-set.ts';
export type { CostEntry, FirstOf, SpendEntry } from './limiter/entry.ts';
export type { Limiter, WaitOptions } from './limiter/limiter.ts';
export type { LimitHandle, Ran, RunOptions, SpendOptions } from './limiter/limit-handle.ts';
export type { LimitDescription } from './limiter/limit-description.ts';
export type { Usage } from './limiter/usage.ts';
export type { Log } from './events/event-sink.ts';
export type { LimitStats, MemoryStats } from './store/memory/memory-stats.ts';
export { memoryStore, type MemoryStore, type MemoryStoreOptions } from './store/memory/memory-store.ts';
export type { DecisionContext, DecisionMessage, OnDecision } from './limiter/on-decision.ts';
export type { OverrideFunction } from './definitions/overrides/override-function.ts';
export type { Override } from './definitions/overrides/override.ts';
export type { OverrideNumbers } from './kinds/rate/rate.ts';
export { OverrideList, type OverrideTable } from './definitions/overrides/override-list.ts';
export { eventLoop, loadFrom } from './kinds/load/load.ts';
export type { LoadOptions } from './kinds/load/load-options.ts';
export type { LoadSource, LoadUse, LoadUser } from './limits/load-source.ts';
export type { ShedMessage } from './kinds/load/shedding.ts';
export type { ConcurrencyOverride } from './kinds/concurrency/concurrency.ts';
export type { ConcurrencyNumbers, SlotScope } from './kinds/concurrency/slot-terms.ts';
export type { LoadNumbers } from './kinds/load/load-kind.ts';
export type { HeldDecision } from './limiter/held-decision.ts';
export type { AtMost } from './rule/at-most.ts';
export type { LimitNumbers } from './rule/rate.ts';
export type { LeaseDescription, OvershootNumbers, StoreRate, StoreTreatment } from './store/lease-description.ts';
export type { ReadyOptions } from './store/ready-options.ts';
export type {
  BucketName,
  Mode,
  ReadingToFill,
  SlotHolding,
  Store,
  StoreBucket,
  StoreCap,
  StoreCharge,
  StoreHold,
  StorePressure,
  StoreReading,
  StoreRefund,
  StoreReport,
  StoreTraits,
  StoreTransaction,
  StoreOperation,
} from './store/store.ts';

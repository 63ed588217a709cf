/**
 * Rate limits on an exact GCRA core: one number per client, every limit of a request decided together.
 *
 * @module
 */
export type { Awaitable } from './awaitable.ts';
export { bucketKey } from './bucket-key.ts';
export type { Clock } from './clock.ts';
export { createLimiter, type LimiterOptions, type LimiterSettings } from './create-limiter.ts';
export type { BucketState, Decision, Outcome, Result } from './decision.ts';
export type { Duration } from './duration.ts';
export { SluiceError, type ErrorCode } from './errors.ts';
export type { LimiterEvent } from './events.ts';
export type { FailureOptions } from './failure/failure-options.ts';
export type { FailurePolicy } from './failure/policy.ts';
export type { Failure } from './failure/ruling.ts';
export type { StoreStatus } from './failure/store-health.ts';
export type { ClientAddressOptions } from './http/client-address.ts';
export type { FieldsDialect } from './http/fields.ts';
export type { RequestDecision } from './http/request-decision.ts';
export { limitUpgrade, type UpgradeListener, type UpgradeOptions } from './http/upgrade.ts';
export type { AccountIdOptions } from './ids/account-id.ts';
export type { IdFormat } from './ids/id-format.ts';
export { IpAddress } from './ids/ip-address.ts';
export { accountId } from './keys/account-key.ts';
export {
  clientNetwork,
  ipAddress,
  ipv6RangeCIDR,
  type ClientNetworkOptions,
  type Ipv6RangeOptions,
} from './keys/address-keys.ts';
export { compound } from './keys/compound-key.ts';
export { keyFrom, type IdValue, type Key, type KeySource } from './keys/key.ts';
export type { LimitSetOptions } from './limit-set.ts';
export type { CloseOptions, CostEntry, Limiter, ResetEntry, SpendEntry } from './limiter.ts';
export type { LimitDefinition, LimitDefinitions } from './limits.ts';
export type { Log } from './log.ts';
export type { LimitStats, MemoryStats } from './memory/memory-stats.ts';
export { memoryStore, type MemoryStore, type MemoryStoreOptions } from './memory/memory-store.ts';
export type { DecisionContext, OnDecision } from './on-decision.ts';
export type { OverrideFunction } from './overrides/asked-overrides.ts';
export {
  cachedOverrides,
  type CachedOverrides,
  type CachedOverridesEvent,
  type CachedOverridesOptions,
} from './overrides/cached-overrides.ts';
export type { OverrideQuery } from './overrides/override-cache.ts';
export type { Override } from './overrides/override.ts';
export { OverrideList, type OverrideTable } from './overrides/override-list.ts';
export type { LimitNumbers } from './rate.ts';
export type { ReadyOptions } from './ready-options.ts';
export type {
  BucketName,
  Mode,
  Store,
  StoreCap,
  StoreCharge,
  StorePressure,
  StoreReading,
  StoreRefund,
  StoreTransaction,
} from './store.ts';

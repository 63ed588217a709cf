/**
 * The Redis store of Sluice, for limits that several processes share. Create it with {@link redisStore} and pass it to
 * `createLimiter({ store })`. Each batch is one atomic decision, made by Redis on its own clock.
 *
 * @module
 */
export type { HashTag } from './batches/bucket-keys.ts';
export type { RedisStoreEvent } from './batches/events.ts';
export type { ConnectionCounts, ConnectionState, ConnectionStatus, ServerStatus } from './client/connection-status.ts';
export type { IoredisClient } from './ioredis/duplicate.ts';
export type { NodeRedisClient } from './node-redis/duplicate.ts';
export type { RedisClient } from './open-client.ts';
export type { LeasedStoreEvent } from './leases/lease-events.ts';
export type { LeaseMessage } from './leases/lease-channel.ts';
export type { LeasedStoreStatus, LeaseStreamStatus } from './leases/lease-status.ts';
export type { LeasedStore } from './leases/process-store.ts';
export { leasedStore, type LeasedStoreOptions } from './leased-store.ts';
export { redisKey, type RedisKey } from './redis-key.ts';
export { redisStore, type RedisStoreOptions } from './redis-store.ts';
export type { RedisStore, RedisStoreCounts, RedisStoreStatus } from './batches/shared-store.ts';

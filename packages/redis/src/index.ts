/**
 * The Redis store of Sluice, for limits that several processes share. Create it with {@link redisStore} and pass it to
 * `createLimiter({ store })`. Each batch is one atomic decision, made by Redis on its own clock.
 *
 * @module
 */
export type { HashTag } from './bucket-keys.ts';
export type { RedisStoreEvent } from './events.ts';
export type { LineCounts, LineState, LineStatus, ServerStatus } from './line/line-status.ts';
export type { RedisClient } from './line/line.ts';
export { redisStore } from './redis-store.ts';
export type { RedisStore, RedisStoreCounts, RedisStoreStatus } from './shared-store.ts';
export type { RedisStoreOptions } from './store-options.ts';

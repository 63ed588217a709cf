/**
 * The Redis store of Sluice: limits that many processes share, each batch one atomic decision on Redis' own clock.
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

/**
 * The PostgreSQL store of Sluice, for limits that several processes share. Create it with {@link postgresStore} and pass
 * it to `createLimiter({ store })`. Each batch is one atomic decision, made by PostgreSQL on its own clock.
 *
 * @module
 */
export { postgresStore, type PostgresStoreOptions } from './postgres-store.ts';
export type { PostgresPool, PostgresPoolOptions, PostgresClient } from './server/pool.ts';
export { schemaSql, type SchemaOptions } from './schema/schema-text.ts';
export type { PostgresError, PostgresState } from './store-state.ts';
export type { MigrateOptions, PostgresStore, PostgresStoreCounts, PostgresStoreStatus } from './table-store.ts';

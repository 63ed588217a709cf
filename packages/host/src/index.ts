/**
 * A store that the processes of one host share, without a server. Start with {@link hostStore}.
 *
 * @module
 */
export type { HostRole, HostStoreEvent } from './events.ts';
export { hostStore, type HostStoreOptions } from './host-store.ts';
export type { HostStore, HostStoreStatus } from './store.ts';

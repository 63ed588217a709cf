import { eventSink } from '@sluice/core/kit';
import { connectionChanged, type RedisStoreEvent } from './batches/events.ts';
import { decideScript } from './batches/script-batch.ts';
import { SharedStore, type RedisStore } from './batches/shared-store.ts';
import type { ConnectionChange } from './client/connection-status.ts';
import { openClient } from './ioredis/open-client.ts';
import { checkRedisStoreOptions, type RedisStoreOptions } from './store-options.ts';

/**
 * Creates a store that keeps its buckets in Redis, for any number of processes. A Lua script decides each batch
 * atomically on the clock of the server; in a cluster that applies to the buckets of one hash slot, see
 * {@link HashTag}.
 *
 * The store opens a connection of its own with the settings of `client`, and connects and reconnects until you close
 * the store. Your client is neither used nor changed.
 *
 * @example
 * const store = redisStore({ client: new Redis() });
 * const limiter = createLimiter({ limits, store });
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an unknown option; `ERR_OPTION` for a wrong value, and if not exactly
 * one of `client` and `url` is given.
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  const { connection, onEvent, log, time, ...own } = checkRedisStoreOptions(options);
  const emitUnlogged = eventSink<RedisStoreEvent>({ onEvent, log: false });
  const onChange = (change: ConnectionChange): void => emitUnlogged(connectionChanged(change));
  const emit = eventSink<RedisStoreEvent>({ onEvent, log, time });
  // The client is opened last: an error after that would leave a connection that the caller could not close.
  const client = openClient({ ...connection, script: decideScript, onChange, time });
  return new SharedStore({ ...own, client, emit, time });
}

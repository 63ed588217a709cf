import { eventSink } from '@sluice/core/kit';
import { decideScript } from './batches/decide-script.ts';
import { connectionChanged, type RedisStoreEvent } from './batches/events.ts';
import type { LineChange } from './client/connection-status.ts';
import { openLine } from './ioredis/open-client.ts';
import { SharedStore, type RedisStore } from './batches/shared-store.ts';
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
  const { connection, onEvent, log, ...own } = checkRedisStoreOptions(options);
  const tell = eventSink<RedisStoreEvent>({ onEvent, log: false });
  const onChange = (change: LineChange): void => tell(connectionChanged(change));
  const emit = eventSink<RedisStoreEvent>({ onEvent, log });
  // The line is opened last: an error after that would leave a connection that the caller could not close.
  const line = openLine({ ...connection, scripts: [decideScript], onChange });
  return new SharedStore({ ...own, line, emit });
}

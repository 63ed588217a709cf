import { notifier } from '@sluice/core/kit';
import { decideScript } from './decide-script.ts';
import { connectionChanged, type RedisStoreEvent } from './events.ts';
import type { LineChange } from './line/line-status.ts';
import { openLine } from './line/open-line.ts';
import { SharedStore, type RedisStore } from './shared-store.ts';
import { checkRedisStoreOptions, type RedisStoreOptions } from './store-options.ts';

/**
 * Makes a store that keeps its buckets in Redis, for any number of processes: each batch is one atomic decision of the
 * server, on the server's clock.
 *
 * It opens a connection of its own beside the client, with the client's settings; the client itself stays untouched.
 *
 * @example
 * const store = redisStore({ client: new Redis() });
 * const limiter = createLimiter({ limits, store });
 *
 * @throws {SluiceError} `ERR_UNKNOWN_OPTION` for an option that is none, `ERR_OPTION` for a wrong value.
 */
export function redisStore(options: RedisStoreOptions): RedisStore {
  const { connection, onEvent, log, ...own } = checkRedisStoreOptions(options);
  const tell = notifier<RedisStoreEvent>({ onEvent, log: false });
  const onChange = (change: LineChange): void => tell(connectionChanged(change));
  const notify = notifier<RedisStoreEvent>({ onEvent, log });
  // Last, when nothing can be wrong any more: from here on there is a connection to close.
  const line = openLine({ ...connection, scripts: [decideScript], onChange });
  return new SharedStore({ ...own, line, notify });
}

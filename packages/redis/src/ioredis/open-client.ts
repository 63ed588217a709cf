import { SluiceError, type Clock } from '@sluice/core';
import { monotonicClock, systemScheduler, type Scheduler } from '@sluice/core/kit';
import { ClusterServers } from './cluster-servers.ts';
import { noCounts } from '../client/counts.ts';
import type { LineChange } from '../client/connection-status.ts';
import type { LineParts } from '../client/line-parts.ts';
import type { Line, Script } from '../client/script-client.ts';
import { OneServer } from './single-server.ts';
import { besideClient, byUrl, type OwnConnection, type RedisClient } from './own-connection.ts';
import { ScriptLine } from '../client/deadlined-client.ts';

/** The options of a line. Exactly one of `client` and `url` must be given. */
export interface LineOptions {
  /** The user's client of ioredis 5.8 or later: a `Redis`, with or without Sentinels, or a `Cluster`. */
  readonly client?: RedisClient | undefined;
  /** The URL of a single server: `redis://` or `rediss://`, with credentials and database. */
  readonly url?: string | undefined;
  /** The scripts, at least one. Every server loads them before its first call. */
  readonly scripts: readonly Script[];
  /** Called at each change of state; of more than four in ten seconds only for the last. It must not throw. */
  readonly onChange?: ((change: LineChange) => void) | undefined;
  /** The clock of deadlines, to which the servers' clocks are compared. Default: the process's monotonic clock. */
  readonly clock?: Clock | undefined;
  /** The timers. Default: those of the process. */
  readonly scheduler?: Scheduler | undefined;
}

/**
 * Opens a connection with the settings of the user's client or by a URL. It connects at once, reconnects until it is
 * closed, and keeps the process alive until then.
 *
 * @throws {SluiceError} `ERR_OPTION` if not exactly one of `client` and `url` is given, or if the given one is wrong.
 */
export function openLine({ client, url, scripts, onChange = () => {}, clock, scheduler }: LineOptions): Line {
  const own = connectionFor({ client, url });
  const parts: LineParts = {
    scripts,
    clock: clock ?? monotonicClock,
    scheduler: scheduler ?? systemScheduler,
    counts: noCounts(),
  };
  return new ScriptLine({
    ...parts,
    onChange,
    makeServers(onServerChange) {
      if (own.isCluster) return new ClusterServers(own.connection, parts, onServerChange);
      return new OneServer(own.connection, parts, onServerChange);
    },
  });
}

function connectionFor({ client, url }: Pick<LineOptions, 'client' | 'url'>): OwnConnection {
  if (client !== undefined && url === undefined) return besideClient(client);
  if (url !== undefined && client === undefined) return byUrl(url);
  const [given, remedy] =
    client === undefined
      ? ['neither was', "For example redisStore({ url: 'redis://127.0.0.1:6379' })."]
      : ['both were', 'Leave one out.'];
  throw new SluiceError('ERR_OPTION', `\`client\` or \`url\` must be given, but ${given}. ${remedy}`);
}

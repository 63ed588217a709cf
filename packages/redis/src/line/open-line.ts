import { SluiceError } from '@sluice/core';
import { monotonicClock, systemScheduler } from '@sluice/core/kit';
import { ClusterServers } from './cluster-servers.ts';
import { noCounts } from './counts.ts';
import type { Line, LineOptions } from './line.ts';
import type { LineParts } from './line-parts.ts';
import { OneServer } from './one-server.ts';
import { besideClient, byUrl, type OwnConnection } from './own-connection.ts';
import { ScriptLine } from './script-line.ts';

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

import type { Store } from '@sluice/core';
import { leasedStore, redisStore } from '@sluice/redis';
import type { Call } from '../console/command.ts';
import { clientOf } from '../redis/client.ts';
import { keyOptionsOf } from '../redis/options.ts';
import type { ServeSettings } from './options.ts';

/** Returns the store of a service; undefined for the memory of its process. */
export async function storeOf(call: Call, { hasRedis, leases, failure }: ServeSettings): Promise<Store | undefined> {
  if (!hasRedis) return undefined;
  const keys = await keyOptionsOf(call);
  const log = (line: string): void => call.console.line(line);
  const client = clientOf(call);
  return leases
    ? leasedStore({ client, ...keys, gateways: failure.gateways, log })
    : redisStore({ client, ...keys, log });
}

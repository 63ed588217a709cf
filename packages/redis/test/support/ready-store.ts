import { redisStore, type RedisStore, type RedisStoreOptions } from '@sluice/redis';
// oxlint-disable-next-line import/no-unassigned-import -- ends the servers of each test
import '../../../../test/redis/servers/teardown.ts';
import { patient } from '../../../../test/patient.ts';

let stores = 0;

/** A store that is connected, with buckets that no other store of this process has, unless a prefix is given. */
export async function readyStore(options: RedisStoreOptions): Promise<RedisStore> {
  const store = patient(redisStore({ prefix: `store${stores++}:`, ...options }));
  await store.ready();
  return store;
}

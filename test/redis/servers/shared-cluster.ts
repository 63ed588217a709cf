import { redisCluster, type RedisCluster } from './redis-cluster.ts';
import { running } from './running.ts';

let cluster: Promise<RedisCluster> | undefined;

/**
 * One cluster for all tests of a worker that neither stop, pause nor configure its servers, and that use keys and users
 * of their own. It ends with the worker.
 */
export function sharedCluster(): Promise<RedisCluster> {
  // No failover when the machine stalls.
  return (cluster ??= running.leftRunning(() => redisCluster({ nodeTimeoutMs: 60_000 })));
}

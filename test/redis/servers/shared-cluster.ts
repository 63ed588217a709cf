import { redisCluster, type RedisCluster } from './redis-cluster.ts';
import { running } from './running.ts';

let cluster: Promise<RedisCluster> | undefined;

/**
 * One cluster for all tests of a worker that neither stop, pause nor configure its servers, and that use key prefixes
 * of their own. It ends with the worker.
 */
export function sharedCluster(): Promise<RedisCluster> {
  return (cluster ??= running.leftRunning(() => redisCluster()));
}

import { redisServer, type RedisServer } from '../../../../test/redis/servers/redis-server.ts';
import { until } from '../../../../test/redis/servers/until.ts';

/** A server that has begun to load its data, and loads until its `key-load-delay` is 0. */
export async function loadingServer(): Promise<RedisServer> {
  const server = await redisServer({ config: { 'enable-debug-command': 'yes', rdbcompression: 'no' } });
  // It answers after each kilobyte, so after each key.
  await server.call('DEBUG', 'POPULATE', 1500, 'key', 1024);
  await server.call('SAVE');
  await server.stop();
  await server.start({
    whileLoading: true,
    args: ['--key-load-delay', '5000', '--loading-process-events-interval-bytes', '1024'],
  });
  await until('it loads', async () => (await server.call<string>('INFO')).includes('loading:1'));
  return server;
}

import { describe, expect, test, beforeAll } from 'vitest';
import { redisCluster, type RedisCluster } from '../../../../test/redis/servers/redis-cluster.ts';
import { call, ended, isUp, lineTo, VERSIONS } from './support/line.ts';
import { add } from './support/scripts.ts';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await redisCluster();
});

describe.each(VERSIONS)('a line beside a cluster client of $version', ({ Cluster }) => {
  test('runs each script on the node that holds the slot of its keys', async () => {
    const line = lineTo({ client: ended(new Cluster([...cluster.addresses])) });
    await isUp(line);
    const keys = Array.from({ length: 60 }, (_, i) => `spread ${Math.random()} ${i}`);
    const replies = await Promise.all(keys.map((key) => line.run(call(add, { keys: [key] }))));
    expect(replies.map(([, value]) => value)).toEqual(keys.map(() => 1));
    const { servers, counts } = line.status();
    expect(servers.map(({ ready }) => ready)).toEqual([true, true, true]);
    expect(counts).toMatchObject({ redirects: 0, reloads: 0, connects: 3 });
  });
});

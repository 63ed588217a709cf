import { test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { sharedCluster } from '../../redis/servers/shared-cluster.ts';
import { findsAnotherService } from './several-services.ts';

const PREFIX = 'its own `prefix`';

test.each(['redis', 'leased'] as const)(
  'a service finds another one that has a limit of the same name on one Redis, by the store %s',
  async (kind) => {
    const { url: at } = await redisServer();
    await findsAnotherService({ kind, at }, PREFIX, { kind, at, own: 'billing:' });
  },
);

test('a service finds another one that has a limit of the same name on one cluster', async () => {
  const { nodes } = await sharedCluster();
  const at = nodes.map(({ port }) => port).join(',');
  await findsAnotherService({ kind: 'cluster', at, own: 'shop:' }, PREFIX, { kind: 'cluster', at, own: 'billing:' });
});

import { expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { sharedCluster } from '../../redis/servers/shared-cluster.ts';
import { eventsOfServices, expected } from './several-services.ts';

const PREFIX = 'its own `prefix`';

test.each(['redis', 'leased'] as const)(
  'a service finds another one that has a limit of the same name on one Redis, by the store %s',
  async (kind) => {
    const { url: at } = await redisServer();
    const events = await eventsOfServices({ kind, at }, { kind, at, own: 'billing:' });
    expect(events).toEqual(expected(PREFIX));
  },
);

test('a service finds another one that has a limit of the same name on one cluster', async () => {
  const { nodes } = await sharedCluster();
  const at = nodes.map(({ port }) => port).join(',');
  const [shop, billing] = ['shop:', 'billing:'].map((own) => ({ kind: 'cluster', at, own }) as const);
  expect(await eventsOfServices(shop!, billing!)).toEqual(expected(PREFIX));
});

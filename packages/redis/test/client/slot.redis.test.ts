import { expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
// oxlint-disable-next-line import/no-unassigned-import -- ends the server
import '../../../../test/redis/servers/teardown.ts';
import { slotOf } from '../../src/client/slot.ts';

test('slots are those that a Redis Cluster itself computes', async () => {
  const server = await redisServer({ config: { 'cluster-enabled': 'yes' } });
  await server.call('PING');
  const odd = ['', 'a', '{', '}', '{}', '{}a', '{a', 'a}', 'x{a}y', '{a}{b}', '{{a}}', '}{a}', 'a{}{b}', '{a}', 'x{'];
  const many = Array.from({ length: 50 }, (_, i) => `sluice:Orders:${i * 7919}`);
  const keys = [...odd, ...many];
  const slots = await Promise.all(keys.map((key) => server.call<number>('CLUSTER', 'KEYSLOT', key)));
  expect(keys.map(slotOf)).toEqual(slots);
});

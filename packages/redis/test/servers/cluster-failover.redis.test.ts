import { Cluster } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { redisCluster, type RedisCluster } from '../../../../test/redis/servers/redis-cluster.ts';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import type { ConnectionState } from '../../src/client/connection-status.ts';
import { call, ended, isIn, isUp, openScriptClient, rejection, CLUSTERS } from '../ioredis/support/client.ts';
import { load, Record } from '../ioredis/support/load.ts';
import { add } from '../ioredis/support/scripts.ts';

/** Script clients of all libraries, which are up. What they report after that is in `states`. */
async function opened(addresses: RedisCluster['addresses']) {
  return Promise.all(
    CLUSTERS.map(async ({ name, clusterTo }) => {
      const states: ConnectionState[] = [];
      const client = clusterTo(addresses);
      const scriptClient = openScriptClient({ client, onChange: ({ state }) => states.push(state) });
      await isUp(scriptClient);
      // On a busy machine the first try to connect may have failed.
      states.length = 0;
      return { name, scriptClient, states };
    }),
  );
}

describe('when a primary is lost, cluster clients of all libraries', () => {
  test.each(['killed', 'frozen'])('(%s) serve the other slots, and these by its replica', async (fate) => {
    const cluster = await redisCluster();
    const all = (await opened(cluster.addresses)).map((each) => {
      const key = `{key} ${each.name}`;
      return { ...each, key, calls: load(each.scriptClient, { keys: [key] }) };
    });
    const primary = await cluster.primaryOf(await cluster.slotOf('key'));
    await until('calls are done', () => all.every(({ calls }) => calls.done > 10));
    if (fate === 'killed') await primary.kill();
    else primary.freeze();
    await Promise.all(all.map(({ scriptClient }) => isIn('degraded', scriptClient)));
    const before = all.map(({ calls }) => calls.done);
    await until('calls are done again', () => all.every(({ calls }, index) => calls.done > before[index]! + 50));
    await Promise.all(all.map(({ scriptClient }) => isUp(scriptClient)));
    // Nobody waits for the primary that is lost.
    await Promise.all(all.map(({ calls }) => calls.stop()));
    const reader = ended(new Cluster([...cluster.addresses]));
    const records = await Promise.all(
      all.map(async ({ key, calls }) => new Record(await reader.lrange(key, 0, -1), calls)),
    );
    for (const { length, lateMs } of records) {
      expect(length).toBeGreaterThan(50);
      expect(lateMs).toEqual([]);
    }
    expect(all.map(({ states }) => states[0])).toEqual(all.map(() => 'degraded'));
    for (const { scriptClient } of all) expect(scriptClient.status().servers).toHaveLength(3);
    primary.thaw();
  });

  test('are down when all are, and up again when they are back', async () => {
    const cluster = await redisCluster();
    const all = await opened(cluster.addresses);
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    await Promise.all(all.map(({ scriptClient }) => isIn('down', scriptClient)));
    for (const { scriptClient } of all) {
      expect(await rejection(scriptClient.run(call(add)))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    }
    await until('the cluster is looked for anew', () =>
      all.every(({ scriptClient }) => scriptClient.status().lastError !== undefined),
    );
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await Promise.all(all.map(({ scriptClient }) => isUp(scriptClient)));
    const isServed = ({ scriptClient }: (typeof all)[number]): Promise<boolean> =>
      scriptClient.run(call(add)).then(
        () => true,
        () => false,
      );
    await Promise.all(all.map((each) => until(`${each.name} is served`, () => isServed(each))));
  });
});

/** A cluster of one primary with all slots and its replica. */
async function pair() {
  const config = { 'cluster-enabled': 'yes', 'cluster-node-timeout': '2000', 'repl-diskless-sync-delay': '0' };
  const [primary, replica] = await Promise.all([redisServer({ config }), redisServer({ config })]);
  await primary.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
  await replica.call('CLUSTER', 'MEET', primary.host, primary.port);
  const id = await primary.call<string>('CLUSTER', 'MYID');
  const knows = async (): Promise<boolean> => (await replica.call<string>('CLUSTER', 'NODES')).includes(id);
  await until('both know each other', knows);
  await replica.call('CLUSTER', 'REPLICATE', id);
  const isNamed = async (): Promise<boolean> => (await primary.call<unknown[][]>('CLUSTER', 'SLOTS'))[0]?.length === 4;
  await until('the replica is in the map of the slots', isNamed);
  return [primary, replica] as const;
}

test('cluster clients of all libraries find a cluster that has moved to other addresses', async () => {
  const [old, moved] = await Promise.all([pair(), pair()]);
  const target = { port: old[0].port };
  const { host, port } = await tcpProxy(target);
  const all = await opened([{ host, port }]);
  await Promise.all(all.map(({ scriptClient }) => scriptClient.run(call(add))));
  const calls = all.map(({ scriptClient }) => load(scriptClient));
  target.port = moved[0].port;
  // Their connections stay open: nothing but their silence says that they are gone.
  for (const server of old) server.freeze();
  await Promise.all(all.map(({ scriptClient }) => isIn('down', scriptClient)));
  await Promise.all(all.map(({ scriptClient }) => isUp(scriptClient)));
  await Promise.all(calls.map((each) => each.stop()));
  for (const { name, scriptClient } of all) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    expect(await scriptClient.run(call(add, { keys: [`other ${name}`] }))).toEqual([expect.any(Number), 1]);
    expect(scriptClient.status().servers).toMatchObject([{ server: `127.0.0.1:${moved[0].port}`, ready: true }]);
  }
});

import { Cluster } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { redisCluster } from '../../../../test/redis/servers/redis-cluster.ts';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import type { ConnectionState } from '../../src/client/connection-status.ts';
import { call, ended, isIn, isUp, openScriptClient, rejection, CLUSTERS } from '../ioredis/support/client.ts';
import { load, Record } from '../ioredis/support/load.ts';
import { add } from '../ioredis/support/scripts.ts';

/** Runs a test with every client at once, because most of its time is waiting for a cluster. */
function withEachClient(run: (client: (typeof CLUSTERS)[number]) => Promise<void>): () => Promise<void> {
  return async () => {
    const runs = CLUSTERS.map((each) =>
      run(each).catch((cause: unknown) => {
        throw new Error(`With ${each.name}:`, { cause });
      }),
    );
    await Promise.all(runs);
  };
}

describe('when a primary is lost, a script client of a cluster', () => {
  for (const fate of ['killed', 'frozen']) {
    test(
      `(${fate}) serves the other slots, and these by its replica`,
      withEachClient(async ({ clusterTo }) => {
        const cluster = await redisCluster();
        const states: ConnectionState[] = [];
        const client = clusterTo(cluster.addresses);
        const scriptClient = openScriptClient({ client, onChange: ({ state }) => states.push(state) });
        await isUp(scriptClient);
        // On a busy machine the first try to connect may have failed.
        states.length = 0;
        const slot = await cluster.slotOf('key');
        const primary = await cluster.primaryOf(slot);
        const calls = load(scriptClient);
        await until('calls are done', () => calls.done > 10);
        if (fate === 'killed') await primary.kill();
        else primary.freeze();
        await isIn('degraded', scriptClient);
        const { done } = calls;
        await until('calls are done again', () => calls.done > done + 50);
        await isUp(scriptClient);
        // Nobody waits for the primary that is lost.
        await calls.stop();
        const reader = new Cluster([...cluster.addresses]);
        const record = new Record(await ended(reader).lrange('key', 0, -1), calls);
        expect(record.length).toBeGreaterThan(50);
        expect(record.lateMs).toEqual([]);
        expect(states[0]).toBe('degraded');
        expect(scriptClient.status().servers).toHaveLength(3);
        primary.thaw();
      }),
    );
  }

  test(
    'is down when all are, and up again when they are back',
    withEachClient(async ({ clusterTo }) => {
      const cluster = await redisCluster();
      const scriptClient = openScriptClient({ client: clusterTo(cluster.addresses) });
      await isUp(scriptClient);
      await Promise.all(cluster.nodes.map((node) => node.kill()));
      await isIn('down', scriptClient);
      expect(await rejection(scriptClient.run(call(add)))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
      await until('the cluster is looked for anew', () => scriptClient.status().lastError !== undefined);
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await isUp(scriptClient);
      await until('all slots are served', () =>
        scriptClient.run(call(add)).then(
          () => true,
          () => false,
        ),
      );
    }),
  );
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

test(
  'a script client of a cluster finds a cluster that has moved to other addresses',
  withEachClient(async ({ clusterTo }) => {
    const [old, moved] = await Promise.all([pair(), pair()]);
    const target = { port: old[0].port };
    const { host, port } = await tcpProxy(target);
    const scriptClient = openScriptClient({ client: clusterTo([{ host, port }]) });
    await isUp(scriptClient);
    await scriptClient.run(call(add));
    const calls = load(scriptClient);
    target.port = moved[0].port;
    // Their connections stay open: nothing but their silence says that they are gone.
    for (const server of old) server.freeze();
    await isIn('down', scriptClient);
    await isUp(scriptClient);
    await calls.stop();
    expect(await scriptClient.run(call(add, { keys: ['other'] }))).toEqual([expect.any(Number), 1]);
    expect(scriptClient.status().servers).toMatchObject([{ server: `127.0.0.1:${moved[0].port}`, ready: true }]);
  }),
);

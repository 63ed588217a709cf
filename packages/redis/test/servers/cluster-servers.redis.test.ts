import { beforeAll, describe, expect, test } from 'vitest';
import { moveSlot } from '../../../../test/redis/servers/moved-slot.ts';
import type { RedisCluster } from '../../../../test/redis/servers/redis-cluster.ts';
import { sharedCluster } from '../../../../test/redis/servers/shared-cluster.ts';
import { call, ended, isIn, isUp, openScriptClient, rejection, CLUSTERS, VERSIONS } from '../ioredis/support/client.ts';
import { add } from '../ioredis/support/scripts.ts';

const SPREAD = Array.from({ length: 60 }, (_, i) => `key ${i}`);

describe.each(CLUSTERS)('a script client beside a cluster client of $name', ({ clusterTo }) => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await sharedCluster();
  });

  const openToCluster = () => openScriptClient({ client: clusterTo(cluster.addresses) });

  test('runs each script on the node that owns the slot of its keys', async () => {
    const scriptClient = openToCluster();
    expect(scriptClient.isCluster).toBe(true);
    await isUp(scriptClient);
    const keys = SPREAD.map((key) => `${key} ${Math.random()}`);
    const replies = await Promise.all(keys.map((key) => scriptClient.run(call(add, { keys: [key] }))));
    expect(replies.map(([, value]) => value)).toEqual(keys.map(() => 1));
    const { servers, counts } = scriptClient.status();
    expect(servers.map(({ ready }) => ready)).toEqual([true, true, true]);
    expect(counts).toMatchObject({ redirects: 0, reloads: 0, connects: 3 });
  });

  test('of keys in several slots concerns this call alone', async () => {
    const scriptClient = openToCluster();
    await isUp(scriptClient);
    const { code, message } = await rejection(scriptClient.run(call(add, { keys: SPREAD })));
    expect(code).toBe('ERR_STORE_BUCKET');
    expect(message).toContain('CROSSSLOT');
  });

  test('loads the script again on every primary that has forgotten it', async () => {
    const scriptClient = openToCluster();
    await isUp(scriptClient);
    await Promise.all(cluster.nodes.map((node) => node.call('SCRIPT', 'FLUSH')));
    const replies = await Promise.all(
      SPREAD.map((key) => scriptClient.run(call(add, { keys: [`${key} ${Math.random()}`] }))),
    );
    expect(replies.map(([, value]) => value)).toEqual(SPREAD.map(() => 1));
    expect(scriptClient.status().state).toBe('up');
  });
});

test.each(VERSIONS)(
  'a script client of a cluster works with any options of the client for sending commands, and leaves the client unchanged: $version',
  async ({ Cluster }) => {
    const cluster = await sharedCluster();
    const client = new Cluster([...cluster.addresses], {
      lazyConnect: true,
      scaleReads: 'slave',
      keyPrefix: 'app:',
      enableAutoPipelining: true,
      enableOfflineQueue: true,
      maxRedirections: 1,
      redisOptions: { keyPrefix: 'app:', commandTimeout: 1, stringNumbers: true },
    });
    const scriptClient = openScriptClient({ client: ended(client) });
    await isUp(scriptClient);
    const key = `own ${Math.random()}`;
    expect(await scriptClient.run(call(add, { keys: [key] }))).toEqual([expect.any(Number), 1]);
    expect(client.status).toBe('wait');
    expect(client.options.redisOptions).toEqual({ keyPrefix: 'app:', commandTimeout: 1, stringNumbers: true });
  },
);

test.each(CLUSTERS)('a script client of a cluster by $name ends in every state', async ({ name, clusterTo }) => {
  const nowhere = [{ host: '127.0.0.1', port: 1 }];
  const early = openScriptClient({ client: clusterTo(nowhere) });
  expect(await rejection(early.run(call(add)))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  await early.close();
  const down = openScriptClient({ client: clusterTo(nowhere) });
  await isIn('down', down);
  expect((await rejection(down.run(call(add)))).message).toContain(
    name.startsWith('node-redis') ? 'ECONNREFUSED' : 'Failed to refresh slots cache',
  );
  await down.close();
  expect(await rejection(down.run(call(add)))).toMatchObject({ code: 'ERR_CLOSED' });
});

// After the other tests, because some nodes learn the new owner of a slot only seconds later.
test.each(CLUSTERS)(
  'a script client of a cluster by $name follows a slot that moves, and keeps what it counted',
  async ({ clusterTo }) => {
    const cluster = await sharedCluster();
    const scriptClient = openScriptClient({ client: clusterTo(cluster.addresses) });
    await isUp(scriptClient);
    const key = `moving ${Math.random()}`;
    await scriptClient.run(call(add, { keys: [key] }));
    const fresh = `fresh {${key}}`;
    await moveSlot(cluster, await cluster.slotOf(key), async () => {
      // Only the new one of the two is asked for where the slot goes to.
      expect(await scriptClient.run(call(add, { keys: [key] }))).toEqual([expect.any(Number), 2]);
      expect(await scriptClient.run(call(add, { keys: [fresh] }))).toEqual([expect.any(Number), 1]);
      expect(scriptClient.status().counts.redirects).toBe(1);
      const { code, message } = await rejection(scriptClient.run(call(add, { keys: [key, fresh] })));
      expect(code).toBe('ERR_STORE_BUCKET');
      expect(message).toContain('TRYAGAIN');
    });
    expect(await scriptClient.run(call(add, { keys: [key] }))).toEqual([expect.any(Number), 3]);
    const { redirects, reloads } = scriptClient.status().counts;
    // On a busy machine it may have read the new owner of the slot meanwhile.
    expect(reloads === 0 ? [2] : [1, 2]).toContain(redirects);
    expect(await scriptClient.run(call(add, { keys: [fresh] }))).toEqual([expect.any(Number), 2]);
    expect(scriptClient.status().counts.redirects).toBe(redirects);
  },
);

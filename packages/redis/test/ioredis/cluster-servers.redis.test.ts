import { beforeAll, describe, expect, test } from 'vitest';
import { redisCluster, type RedisCluster } from '../../../../test/redis/servers/redis-cluster.ts';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { tcpProxy } from '../../../../test/redis/servers/tcp-proxy.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import type { ConnectionState } from '../../src/client/connection-status.ts';
import { call, ended, isIn, isUp, openScriptClient, rejection, VERSIONS } from './support/client.ts';
import { load, Record } from './support/load.ts';
import { add } from './support/scripts.ts';

const SPREAD = Array.from({ length: 60 }, (_, i) => `key ${i}`);

describe.each(VERSIONS)('a script client beside a cluster client of $version', ({ Cluster }) => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await redisCluster();
  });

  function openToCluster(options = {}) {
    const nodes = [...cluster.addresses];
    return openScriptClient({ client: ended(new Cluster(nodes, { lazyConnect: true, ...options })) });
  }

  /** Gives the slot of a key to another primary, step by step; `inTheMiddle` sees it on its way. */
  async function move(key: string, inTheMiddle: () => Promise<void>): Promise<void> {
    const slot = await cluster.slotOf(key);
    const from = await cluster.primaryOf(slot);
    const primaries = await Promise.all([0, 6000, 12_000].map((each) => cluster.primaryOf(each)));
    const to = primaries.find((node) => node !== from)!;
    const [fromId, toId] = await Promise.all([cluster.idOf(from), cluster.idOf(to)]);
    await to.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
    await from.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
    await inTheMiddle();
    const keys = await from.call<string[]>('CLUSTER', 'GETKEYSINSLOT', slot, 100);
    if (keys.length > 0) await from.call('MIGRATE', to.host, to.port, '', 0, 1000, 'KEYS', ...keys);
    await to.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
    await from.call('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  }

  test('runs each script on the node that holds the slot of its keys', async () => {
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

  test('works whatever the client’s options say of sending commands, and leaves it alone', async () => {
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
  });

  test('follows a slot that moves to another primary, and keeps what it counted', async () => {
    const scriptClient = openToCluster({ slotsRefreshInterval: 60_000 });
    await isUp(scriptClient);
    const key = `moving ${Math.random()}`;
    await scriptClient.run(call(add, { keys: [key] }));
    const fresh = `fresh {${key}}`;
    await move(key, async () => {
      // Of the two only the new one is asked for where the slot goes to.
      expect(await scriptClient.run(call(add, { keys: [key] }))).toEqual([expect.any(Number), 2]);
      expect(await scriptClient.run(call(add, { keys: [fresh] }))).toEqual([expect.any(Number), 1]);
      expect(scriptClient.status().counts.redirects).toBe(1);
      const { code, message } = await rejection(scriptClient.run(call(add, { keys: [key, fresh] })));
      expect(code).toBe('ERR_STORE_BUCKET');
      expect(message).toContain('TRYAGAIN');
    });
    expect(await scriptClient.run(call(add, { keys: [key] }))).toEqual([expect.any(Number), 3]);
    const { redirects } = scriptClient.status().counts;
    expect(redirects).toBe(2);
    expect(await scriptClient.run(call(add, { keys: [fresh] }))).toEqual([expect.any(Number), 2]);
    expect(scriptClient.status().counts.redirects).toBe(redirects);
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

describe.each(VERSIONS)('when a primary is gone, a script client of a cluster by $version', ({ Cluster }) => {
  test.each(['killed', 'frozen'])('(%s) serves the other slots, and these by its replica', async (fate) => {
    const cluster = await redisCluster();
    const states: ConnectionState[] = [];
    const client = new Cluster([...cluster.addresses], { lazyConnect: true });
    const scriptClient = openScriptClient({ client: ended(client), onChange: ({ state }) => states.push(state) });
    await isUp(scriptClient);
    const slot = await cluster.slotOf('key');
    const primary = await cluster.primaryOf(slot);
    const calls = load(scriptClient);
    await until('calls are done', () => calls.done > 10);
    if (fate === 'killed') await primary.kill();
    else primary.freeze();
    await isIn('degraded', scriptClient);
    const { done } = calls;
    await until('calls are done again', () => calls.done > done + 50, { withinMs: 20_000 });
    await isUp(scriptClient);
    await calls.stop();
    const reader = new Cluster([...cluster.addresses]);
    const record = new Record(await ended(reader).lrange('key', 0, -1));
    expect(record.length).toBeGreaterThan(50);
    expect(record.lateMs).toEqual([]);
    expect(states.slice(0, 2)).toEqual(['up', 'degraded']);
    expect(scriptClient.status().servers).toHaveLength(3);
    expect(calls.longestMs).toBeLessThan(1000);
    primary.thaw();
  });

  test('is down when all are, and up again when they are back', async () => {
    const cluster = await redisCluster();
    const scriptClient = openScriptClient({
      client: ended(new Cluster([...cluster.addresses], { lazyConnect: true })),
    });
    await isUp(scriptClient);
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    await isIn('down', scriptClient);
    expect(await rejection(scriptClient.run(call(add)))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    await until('the cluster is looked for anew', () => scriptClient.status().lastError !== undefined);
    await Promise.all(cluster.nodes.map((node) => node.start()));
    await isIn('up', scriptClient, 20_000);
    await until(
      'all slots are served',
      () =>
        scriptClient.run(call(add)).then(
          () => true,
          () => false,
        ),
      { withinMs: 20_000 },
    );
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
  await until('the replica is in the map of the slots', isNamed, { withinMs: 20_000 });
  return [primary, replica] as const;
}

test.each(VERSIONS)(
  'a script client of a cluster by $version finds a cluster that has moved to other addresses',
  async ({ Cluster }) => {
    const [old, moved] = await Promise.all([pair(), pair()]);
    const target = { port: old[0].port };
    const { host, port } = await tcpProxy(target);
    const scriptClient = openScriptClient({ client: ended(new Cluster([{ host, port }], { lazyConnect: true })) });
    await isUp(scriptClient);
    await scriptClient.run(call(add));
    const calls = load(scriptClient);
    target.port = moved[0].port;
    // Their connections stay open: nothing but their silence says that they are gone.
    for (const server of old) server.freeze();
    await isIn('down', scriptClient);
    await isIn('up', scriptClient, 20_000);
    await calls.stop();
    expect(await scriptClient.run(call(add, { keys: ['other'] }))).toEqual([expect.any(Number), 1]);
    expect(scriptClient.status().servers).toMatchObject([{ server: `127.0.0.1:${moved[0].port}`, ready: true }]);
  },
);

test.each(VERSIONS)('a script client of a cluster by $version ends in every state', async ({ Cluster }) => {
  const nowhere = [{ host: '127.0.0.1', port: 1 }];
  const early = openScriptClient({ client: ended(new Cluster(nowhere, { lazyConnect: true })) });
  expect(await rejection(early.run(call(add)))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  await early.close();
  const down = openScriptClient({ client: ended(new Cluster(nowhere, { lazyConnect: true })) });
  await isIn('down', down);
  expect((await rejection(down.run(call(add)))).message).toContain('Failed to refresh slots cache');
  await down.close();
  expect(await rejection(down.run(call(add)))).toMatchObject({ code: 'ERR_CLOSED' });
});

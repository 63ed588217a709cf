import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { createSentinel } from 'redis';
import { beforeAll, describe, expect, test } from 'vitest';
import { running } from '../../../../test/redis/servers/running.ts';
import { sentinelSet, type SentinelSet } from '../../../../test/redis/servers/sentinel-set.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { call, isUp, openScriptClient } from '../ioredis/support/client.ts';
import { add } from '../ioredis/support/scripts.ts';

const CERTIFICATES = new URL('../../../../tools/cli/test/tls/', import.meta.url);
const certificate = (name: string): string => readFileSync(new URL(name, CERTIFICATES), 'utf8');

/** Decrypts what it is sent for another port. */
async function tlsProxy(port: number): Promise<{ host: string; port: number }> {
  const options = { cert: certificate('server.pem'), key: certificate('server.key') };
  const server = createServer(options, (outside) => {
    const inside = connect(port, '127.0.0.1');
    for (const socket of [outside, inside]) socket.on('error', () => {});
    outside.pipe(inside).pipe(outside);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  running.add({ close: async () => void server.close() });
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

describe('a script client beside a client for Sentinels of node-redis', () => {
  let set: SentinelSet;

  beforeAll(async () => {
    set = await sentinelSet();
    const user = ['ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all'] as const;
    await Promise.all([...set.servers, ...set.sentinels].map((server) => server.call(...user)));
  });

  const sentinelWith = (options: Partial<Parameters<typeof createSentinel>[0]>) =>
    createSentinel({ name: set.name, sentinelRootNodes: [...set.addresses], ...options });

  test('has the login, database and name of the client, and neither connects nor changes it', async () => {
    const nodeClientOptions = { username: 'app', password: 'secret', database: 3, name: 'orders' };
    const client = sentinelWith({ nodeClientOptions });
    const scriptClient = openScriptClient({ client });
    await isUp(scriptClient);
    await scriptClient.run(call(add));
    expect(await set.servers[0]!.call('CLIENT', 'LIST')).toMatch(/name=orders .*db=3 .*user=app/);
    expect(client.isOpen).toBe(false);
    expect(nodeClientOptions).toEqual({ username: 'app', password: 'secret', database: 3, name: 'orders' });
  });

  test.each([
    ['secret', 'up', undefined],
    ['wrong', 'down', /WRONGPASS/],
  ] as const)('logs in to the Sentinels with the password %s', async (password, state, cause = /^undefined$/) => {
    const scriptClient = openScriptClient({
      client: sentinelWith({ sentinelClientOptions: { username: 'app', password } }),
    });
    await until(`it is ${state}`, () => scriptClient.status().state === state);
    // A try that takes too long has another cause.
    await expect.poll(() => String(scriptClient.status().lastError?.cause)).toMatch(cause);
  });

  test('reaches Sentinels and servers at the addresses of `nodeAddressMap`, over TLS', async () => {
    const servers = [...set.servers, ...set.sentinels];
    const proxies = new Map(
      await Promise.all(servers.map(async ({ host, port }) => [`${host}:${port}`, await tlsProxy(port)] as const)),
    );
    const options = { socket: { tls: true as const, ca: certificate('ca.pem') } };
    const client = sentinelWith({
      nodeAddressMap: (address) => proxies.get(address as `${string}:${number}`),
      nodeClientOptions: options,
      sentinelClientOptions: options,
    });
    const scriptClient = openScriptClient({ client });
    await isUp(scriptClient);
    const { host, port } = proxies.get(`127.0.0.1:${set.servers[0]!.port}`)!;
    expect(scriptClient.status().servers.map(({ server }) => server)).toEqual([`${host}:${port}`]);
  });

  test('does not trust a server whose certificate the client does not trust', async () => {
    const [{ port }] = set.servers as [SentinelSet['servers'][number]];
    const nodeAddressMap = { [`127.0.0.1:${port}`]: await tlsProxy(port) };
    const client = sentinelWith({ nodeAddressMap, nodeClientOptions: { socket: { tls: true as const } } });
    const scriptClient = openScriptClient({ client });
    await until('the cause is known', () => scriptClient.status().state === 'down');
    expect(String(scriptClient.status().lastError?.cause)).toMatch(/certificate/);
  });
});

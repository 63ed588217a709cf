import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { call, isIn, isUp, openScriptClient, rejection, CLIENTS } from '../ioredis/support/client.ts';
import { add, echo, guarded } from '../ioredis/support/scripts.ts';
import { loadingServer } from '../support/loading-server.ts';

describe.each(CLIENTS)('what a server answers a script client of $name', ({ clientTo }) => {
  async function openToServer(config: Record<string, string> = {}, options = {}) {
    const server = await redisServer({ config });
    const scriptClient = openScriptClient({ client: clientTo(server.port), ...options });
    await isUp(scriptClient);
    return { server, scriptClient };
  }

  test('of a key of a wrong type concerns this call alone, and names the key', async () => {
    const { server, scriptClient } = await openToServer();
    // On a busy machine the first try to connect may have failed.
    const { lastError } = scriptClient.status();
    await server.call('LPUSH', 'list', 'x');
    const { code, message } = await rejection(scriptClient.run(call(add, { keys: ['list'] })));
    expect(code).toBe('ERR_STORE_BUCKET');
    expect(message).toContain('list');
    expect(message).toContain('WRONGTYPE');
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 1]);
    expect(scriptClient.status().state).toBe('up');
    expect(scriptClient.status().lastError).toBe(lastError);
  });

  test.each([
    ['an error in the script', 'return {1, now + nil}'],
    ['an error that the script raises', "return redis.call('INCR')"],
  ])('of %s concerns this call alone', async (_, body) => {
    const broken = guarded('broken', body);
    const { scriptClient } = await openToServer({}, { script: broken });
    const { code, message } = await rejection(scriptClient.run(call(echo)));
    expect(code).toBe('ERR_STORE_BUCKET');
    expect(message).toContain('broken');
    expect(scriptClient.status().state).toBe('up');
  });

  test('never contains the arguments of the command, which may be ids of users', async () => {
    const { server, scriptClient } = await openToServer();
    await server.call('LPUSH', 'list', 'x');
    const error: unknown = await scriptClient.run(call(add, { keys: ['list'] })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ cause: { name: 'ReplyError' } });
    expect((error as Error).cause).not.toHaveProperty('command');
  });

  test('of its memory concerns all calls that write, and names the remedy', async () => {
    const { server, scriptClient } = await openToServer();
    await server.config('maxmemory', '1');
    const { code, message } = await rejection(scriptClient.run(call(add)));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toMatch(/OOM.*maxmemory/);
    expect(await scriptClient.run(call(echo))).toHaveLength(1);
    await server.config('maxmemory', '0');
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 1]);
  });

  test('when it has become a replica makes the connection anew, and the script client is down until it writes again', async () => {
    const changes: string[] = [];
    const { server, scriptClient } = await openToServer(
      {},
      { onChange: ({ state }: { state: string }) => changes.push(state) },
    );
    const { connects } = scriptClient.status().counts;
    changes.length = 0;
    await server.call('REPLICAOF', '127.0.0.1', '1');
    const { code, message } = await rejection(scriptClient.run(call(add)));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toContain('READONLY');
    await until('the script client is connected again', () =>
      scriptClient.status().servers.every(({ ready }) => ready),
    );
    expect(scriptClient.status()).toMatchObject({ state: 'down', counts: { connects: connects + 1 } });
    expect((await rejection(scriptClient.run(call(add)))).message).toContain('READONLY');
    await server.call('REPLICAOF', 'NO', 'ONE');
    await until('the script client is connected again', () =>
      scriptClient.status().servers.every(({ ready }) => ready),
    );
    await scriptClient.run(call(add));
    expect(scriptClient.status().state).toBe('up');
    expect(changes[0]).toBe('down');
    await until('it was told', () => changes.length === 2);
    expect(changes).toEqual(['down', 'up']);
  });

  test('when it may not serve stale data keeps the script client down until it may', async () => {
    const server = await redisServer({ config: { 'replica-serve-stale-data': 'no' } });
    const countsOfStale = async () => {
      await server.call('REPLICAOF', '127.0.0.1', '1');
      const scriptClient = openScriptClient({ client: clientTo(server.port) });
      await isIn('down', scriptClient);
      await until('the cause is known', () => String(scriptClient.status().lastError?.cause).includes('MASTERDOWN'));
      const { code, message } = await rejection(scriptClient.run(call(add)));
      expect(code).toBe('ERR_STORE_UNAVAILABLE');
      expect(message).toContain('MASTERDOWN');
      await server.call('REPLICAOF', 'NO', 'ONE');
      await isUp(scriptClient);
      return scriptClient.status().counts;
    };
    let counts = await countsOfStale();
    // Where the machine stalls, an attempt takes too long.
    while (counts.resets > 0) counts = await countsOfStale();
    expect(counts.connects).toBe(1);
  });

  test('of a permission that lacks names the user’s right, and heals when it is given', async () => {
    const server = await redisServer();
    await server.call('ACL', 'SETUSER', 'limited', 'on', '>pass', '~*', '+@connection', '+info', '+evalsha');
    const scriptClient = openScriptClient({
      client: clientTo(server.port, { username: 'limited', password: 'pass' }),
    });
    // On a busy machine the first try to connect may have failed otherwise.
    await until('the cause is known', () => String(scriptClient.status().lastError?.cause).includes('NOPERM'));
    const { code, message } = await rejection(scriptClient.run(call(add)));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toMatch(/NOPERM.*permission/);
    await server.call('ACL', 'SETUSER', 'limited', '+eval', '+time', '+incr');
    await isUp(scriptClient);
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 1]);
    await server.call('ACL', 'SETUSER', 'limited', '-incr');
    expect(await rejection(scriptClient.run(call(add)))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
  });

  test.each([
    ['that the user may not choose', { username: 'limited', password: 'pass', db: 2 }, /NOPERM.*'select'/],
    ['that there is not', { db: 99 }, /DB index is out of range/],
  ])('of a database %s keeps the script client down: it never decides in another one', async (_, options, said) => {
    const server = await redisServer();
    await server.call('ACL', 'SETUSER', 'limited', 'on', '>pass', '~*', '+@all', '-select');
    const scriptClient = openScriptClient({ client: clientTo(server.port, options) });
    await isIn('down', scriptClient);
    await until('the cause is known', () => said.test(String(scriptClient.status().lastError?.cause)));
    const { code, message } = await rejection(scriptClient.run(call(add)));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toMatch(said);
    expect(scriptClient.status().counts.connects).toBe(0);
    await server.call('ACL', 'SETUSER', 'limited', '+select');
    if (options.db !== 2) return;
    await isUp(scriptClient);
    await scriptClient.run(call(add));
    expect(await server.call('EXISTS', 'key')).toBe(0);
  });

  test('of slots, when it is a node of a cluster, asks for a cluster client', async () => {
    const { server, scriptClient } = await openToServer({ 'cluster-enabled': 'yes' });
    await server.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383);
    const { code, message } = await rejection(scriptClient.run(call(add, { keys: ['a', 'b'] })));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toMatch(/CROSSSLOT.*Pass a `Cluster` of ioredis or iovalkey, or `createCluster/);
  });

  test('of a missing password is the cause of all rejections', async () => {
    const server = await redisServer({ config: { requirepass: 'secret' } });
    const scriptClient = openScriptClient({ client: clientTo(server.port) });
    await isIn('down', scriptClient);
    await until('the cause is known', () => String(scriptClient.status().lastError?.cause).includes('NOAUTH'));
    const { code, message } = await rejection(scriptClient.run(call(add)));
    expect(code).toBe('ERR_STORE_UNAVAILABLE');
    expect(message).toContain('NOAUTH');
  });

  test('while it loads its data keeps the script client waiting on one connection', async () => {
    const server = await loadingServer();
    const scriptClient = openScriptClient({ client: clientTo(server.port) });
    await until('the server is being waited for', async () =>
      (await server.call<string>('INFO')).includes('loading:1'),
    );
    expect(await rejection(scriptClient.run(call(echo)))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' });
    // On a busy machine the first try to connect may have failed before.
    const { connects, resets } = scriptClient.status().counts;
    await server.call('CONFIG', 'SET', 'key-load-delay', '0');
    await isUp(scriptClient);
    expect(scriptClient.status().counts).toMatchObject({ connects: Math.max(1, connects), resets });
  });
});

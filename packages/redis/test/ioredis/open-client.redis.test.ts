import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { redisServer } from '../../../../test/redis/servers/redis-server.ts';
import { openClient, type RedisClient } from '../../src/open-client.ts';
import { call, ended, isUp, openScriptClient, rejection, VERSIONS } from './support/client.ts';
import { add, echo, testScript } from './support/scripts.ts';

describe.each(VERSIONS)('a connection of our own beside a client of $version', ({ Redis: RedisOfVersion }) => {
  test('leaves the client alone: nothing is sent on it, and it may be closed first', async () => {
    const server = await redisServer();
    const client = ended(new RedisOfVersion(server.port, { lazyConnect: true }));
    const options = { ...client.options };
    const scriptClient = openScriptClient({ client });
    await isUp(scriptClient);
    await scriptClient.run(call(add));
    expect(client.status).toBe('wait');
    expect(client.options).toEqual(options);
    expect(client.listenerCount('error')).toBe(1);
    client.disconnect();
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 2]);
    await scriptClient.close();
    await client.connect();
    expect(await client.get('key')).toBe('2');
  });

  test('works with any options of the client for sending commands', async () => {
    const server = await redisServer();
    const client = new RedisOfVersion(server.port, {
      keyPrefix: 'app:',
      commandTimeout: 1,
      socketTimeout: 1,
      enableAutoPipelining: true,
      readOnly: true,
      lazyConnect: true,
      stringNumbers: true,
      maxRetriesPerRequest: null,
      enableOfflineQueue: true,
      enableReadyCheck: false,
      showFriendlyErrorStack: true,
      reconnectOnError: () => 2,
      retryStrategy: () => null,
      scripts: { add: { lua: 'return 1', numberOfKeys: 0 } },
      autoResendUnfulfilledCommands: true,
    });
    const scriptClient = openScriptClient({ client: ended(client) });
    await isUp(scriptClient);
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 1]);
    expect(await server.call('KEYS', '*')).toEqual(['key']);
    await server.kill();
    await server.start();
    await isUp(scriptClient);
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 1]);
  });

  test('rejects when something that watches ioredis throws, and runs the next call', async () => {
    const server = await redisServer();
    const client = ended(new RedisOfVersion(server.port));
    let throws = false;
    const duplicate = (...args: []): unknown => {
      const own = RedisOfVersion.prototype.duplicate.apply(client, args);
      const evalsha = own.evalsha.bind(own) as (...all: unknown[]) => unknown;
      return Object.assign(own, {
        evalsha: (...all: unknown[]) => {
          if (throws) throw new Error('from a tracer');
          return evalsha(...all);
        },
      });
    };
    const scriptClient = openScriptClient({ client: { isCluster: false, options: client.options, duplicate } });
    await isUp(scriptClient);
    throws = true;
    const { code, message } = await rejection(scriptClient.run(call(echo)));
    expect([code, message]).toEqual(['ERR_STORE_UNAVAILABLE', expect.stringContaining('from a tracer')]);
    throws = false;
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 1]);
  });

  test('has the user, password, db and name of the client', async () => {
    const server = await redisServer();
    await server.call('ACL', 'SETUSER', 'app', 'on', '>p@ss/word', '~*', '+@all');
    const client = new RedisOfVersion(server.port, {
      username: 'app',
      password: 'p@ss/word',
      db: 3,
      connectionName: 'orders',
      lazyConnect: true,
    });
    const scriptClient = openScriptClient({ client: ended(client) });
    await isUp(scriptClient);
    await scriptClient.run(call(add));
    expect(await server.call('CLIENT', 'LIST')).toMatch(/name=orders .*db=3 .*user=app/);
  });

  test('reaches a server by its socket, and names it by that', async () => {
    const server = await redisServer({ config: { unixsocket: '/tmp/sluice-client-test.sock' } });
    const scriptClient = openScriptClient({
      client: ended(new RedisOfVersion('/tmp/sluice-client-test.sock', { lazyConnect: true })),
    });
    await isUp(scriptClient);
    expect(await scriptClient.run(call(add))).toEqual([expect.any(Number), 1]);
    expect(scriptClient.status().servers[0]?.server).toBe('/tmp/sluice-client-test.sock');
    await server.stop();
  });
});

describe('a connection by URL', () => {
  test('is for the user, the password and the db of the URL', async () => {
    const server = await redisServer();
    await server.call('ACL', 'SETUSER', 'app', 'on', '>p@ss/word', '~*', '+@all');
    const scriptClient = openScriptClient({ url: `redis://app:p%40ss%2Fword@127.0.0.1:${server.port}/5` });
    await isUp(scriptClient);
    await scriptClient.run(call(add));
    expect(await server.call('CLIENT', 'LIST')).toMatch(/db=5 .*user=app/);
  });

  test.each(['127.0.0.1:6379', 'http://127.0.0.1', 'redis://', 'redis://host:port:7', '', 7])(
    'is rejected for %j',
    (url) => {
      expect(() => openClient({ url: url as string, script: testScript, caller: 'redisStore' })).toThrow(
        expect.objectContaining({ code: 'ERR_OPTION', message: expect.stringContaining('redis://') }),
      );
    },
  );

  test.each(['redis://127.0.0.1/orders', 'redis://127.0.0.1?db=x'])(
    'is rejected for a database that is not a number: %s',
    (url) => {
      expect(() => openClient({ url, script: testScript, caller: 'redisStore' })).toThrow(
        expect.objectContaining({
          code: 'ERR_OPTION',
          message: expect.stringMatching(/^`db` must be a whole number from 0, but was NaN\. Correct the database/),
        }),
      );
    },
  );

  test('is rejected without showing the password', () => {
    expect(() => openClient({ url: 'http://user:secret@host/0', script: testScript, caller: 'redisStore' })).toThrow(
      /http:\/\/…@host/,
    );
    expect(() =>
      openClient({ url: 'redis://user:se/cret@host:x/0', script: testScript, caller: 'redisStore' }),
    ).toThrow(/redis:\/\/…@host/);
  });

  test.each([
    'limits:secret@127.0.0.1:6379',
    'redis:limits:secret@127.0.0.1',
    'redis://a:secret@b:secret@host:x',
    'redis://h:x?password=secret',
    'redis://a:sec\nsecret@host:x',
  ])('is rejected without showing the password, whatever it is: %j', (url) => {
    const open = () => openClient({ url, script: testScript, caller: 'redisStore' });
    expect(open).toThrow(/^`url` must be a URL that begins with/);
    expect(open).not.toThrow(/secret/);
  });
});

describe('a value that is not a client of a known kind', () => {
  test.each([
    ['null', null],
    ['a string', 'localhost'],
    ['an object', {}],
    ['a client of another package', { duplicate: () => ({}), options: {}, isOpen: true }],
    ['a function', () => {}],
  ])('is rejected: %s', (_, client) => {
    expect(() =>
      openClient({ client: client as unknown as RedisClient, script: testScript, caller: 'redisStore' }),
    ).toThrow(
      expect.objectContaining({
        code: 'ERR_OPTION',
        message: expect.stringMatching(
          /^`client` must be a client of ioredis 5\.8 or later, of iovalkey, or of node-redis 6, but was (?:null|a[ n].*)\. For/,
        ),
      }),
    );
  });

  test.each([
    ['options', { host: 'h', password: 'secret' }, 'an object'],
    ['options without a prototype', Object.assign(Object.create(null), { password: 'secret' }), 'an object'],
    [
      'something with a class',
      new (class Pool {
        password = 'secret';
      })(),
      'an object of Pool',
    ],
    ['a URL', 'redis://:secret@host', 'a string'],
  ])('is rejected without showing its content: %s', (_, client, shown) => {
    const open = () => openClient({ client: client as RedisClient, script: testScript, caller: 'redisStore' });
    expect(open).toThrow(`but was ${shown}`);
    expect(open).not.toThrow(/secret/);
  });

  test('neither client nor URL is rejected, and so are both', () => {
    expect(() => openClient({ script: testScript, caller: 'leasedStore' })).toThrow(
      "`client` or `url` must be given, but neither was. For example leasedStore({ url: 'redis://127.0.0.1:6379' }).",
    );
    const client = ended(new Redis({ lazyConnect: true }));
    expect(() => openClient({ client, url: 'redis://localhost', script: testScript, caller: 'redisStore' })).toThrow(
      /both/,
    );
  });
});

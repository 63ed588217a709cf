import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { moveSlot } from '../../../../test/redis/servers/moved-slot.ts';
import { redisServer, serverWith, argsOf, type RedisServer } from '../../../../test/redis/servers/redis-server.ts';
import { sharedCluster } from '../../../../test/redis/servers/shared-cluster.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { callError, errorPrefix } from '../../src/client/server-errors.ts';
import { SERVER_WORDS } from '../../src/client/server-words.ts';
import { readError } from '../../src/ioredis/ioredis-connection.ts';
import { loadingServer } from '../support/loading-server.ts';
import { rawClient } from '../support/raw-client.ts';

const SET = "return redis.call('SET', KEYS[1], '1')";
const script = { name: 'decide', source: '', sha1: '' };
/** A user who may evaluate scripts that read the time and the keys of `sluice:`. */
const USER = ['limits', 'on', '>secret', '~sluice:*', '-@all', '+eval', '+time', '+get', '+select'];
const LOGIN = { username: 'limits', password: 'secret' };

async function refusedWrite(server: RedisServer): Promise<Error> {
  return rawClient(server.port)('EVAL', SET, 1, 'key');
}

async function configured(config: Readonly<Record<string, string>>): Promise<Error> {
  const server = await redisServer();
  await Promise.all(Object.entries(config).map(([name, value]) => server.config(name, value)));
  return refusedWrite(server);
}

async function replica(staleData: 'yes' | 'no'): Promise<Error> {
  const server = await redisServer({ config: { 'replica-serve-stale-data': staleData } });
  await server.call('REPLICAOF', '127.0.0.1', '1');
  return refusedWrite(server);
}

async function withoutDisk(): Promise<Error> {
  const server = await serverWith(argsOf({ save: '3600 1' }));
  await server.call('SET', 'key', '1');
  rmSync(server.folder, { recursive: true });
  await server.call('BGSAVE').catch(() => {});
  await until('it has failed', async () => (await server.call<string>('INFO')).includes('last_bgsave_status:err'));
  return refusedWrite(server);
}

/** What a client is answered while another one's script runs, and what ends that script. */
async function whileBusy(): Promise<{ readonly busy: Error; readonly ended: Error }> {
  const server = await redisServer();
  await server.config('lua-time-limit', '1');
  const ended = rawClient(server.port)('EVAL', 'while true do end', 0);
  const ask = rawClient(server.port);
  let busy: Error | undefined;
  await until('it is busy', async () => {
    busy = await ask('EVAL', SET, 1, 'key').catch(() => undefined);
    return busy !== undefined;
  });
  await server.call('SCRIPT', 'KILL');
  return { busy: busy!, ended: await ended };
}

async function asUser(command: string, ...args: readonly (string | number)[]): Promise<Error> {
  const server = await redisServer();
  await server.call('ACL', 'SETUSER', ...USER);
  return rawClient(server.port, LOGIN)(command, ...args);
}

async function oneTooMany(): Promise<Error> {
  const server = await redisServer({ config: { maxclients: '1' } });
  await server.call('PING');
  // The server closes the connection with it: a client that writes may not get to read it.
  let said = '';
  for await (const chunk of connect(server.port, server.host)) said += String(chunk);
  return Object.assign(new Error(said.trim()), { name: 'ReplyError' });
}

/** What a node says of two keys while their slot is moved, of which one has moved. */
async function whileMoving(ask: 'the old node' | 'for one key' | 'for two keys'): Promise<Error> {
  const cluster = await sharedCluster();
  const [here, there] = ['{words}:here', '{words}:there'];
  const slot = await cluster.slotOf(here);
  const old = await cluster.primaryOf(slot);
  await old.call('SET', here, '1');
  await old.call('SET', there, '1');
  let said: Error | undefined;
  await moveSlot(cluster, slot, async (moveKeys) => {
    await moveKeys(there);
    const keys = ask === 'for two keys' ? [here, there] : [there];
    said = await rawClient(old.port)('EVAL', "return redis.call('GET', KEYS[1])", keys.length, ...keys);
  });
  return ask === 'the old node' ? rawClient(old.port)('GET', here) : said!;
}

async function ofTwoSlots(): Promise<Error> {
  const { nodes } = await sharedCluster();
  return rawClient(nodes[0]!.port)('EVAL', 'return 1', 2, 'a', 'b');
}

/** How a real server is made to say each word. Several ways where servers say it by several texts. */
const WAYS: Readonly<Record<string, Readonly<Record<string, () => Promise<Error>>>>> = {
  OOM: { 'a full memory': () => configured({ maxmemory: '1' }) },
  READONLY: { 'a write to a replica': () => replica('yes') },
  LOADING: { 'a start': async () => refusedWrite(await loadingServer()) },
  MASTERDOWN: { 'a replica alone': () => replica('no') },
  CLUSTERDOWN: {
    'a cluster without slots': async () => refusedWrite(await redisServer({ config: { 'cluster-enabled': 'yes' } })),
  },
  NOPERM: {
    'a command': () => asUser('SET', 'sluice:key', '1'),
    'a command in a script': () => asUser('EVAL', SET, 1, 'sluice:key'),
    'a key': () => asUser('EVAL', SET, 1, 'other:key'),
    'a key that a script does not declare': () => asUser('EVAL', "return redis.call('GET', 'other:key')", 0),
  },
  NOAUTH: { 'no password': async () => refusedWrite(await redisServer({ config: { requirepass: 'secret' } })) },
  WRONGPASS: { 'another password': async () => rawClient((await redisServer()).port)('AUTH', 'limits', 'other') },
  MISCONF: { 'a folder that is gone': withoutDisk },
  NOREPLICAS: { 'no replica': () => configured({ 'min-replicas-to-write': '1' }) },
  BUSY: { 'an endless script': async () => (await whileBusy()).busy },
  'script ended': { 'SCRIPT KILL': async () => (await whileBusy()).ended },
  'no command': {
    'a command that was renamed': async () =>
      rawClient((await serverWith(renamed('EVAL'))).port)('EVAL', SET, 1, 'key'),
    'one in a script': async () => refusedWrite(await serverWith(renamed('SET'))),
  },
  'no database': {
    'a number too high': () => asUser('SELECT', 99),
    'a cluster': async () => rawClient((await sharedCluster()).nodes[0]!.port)('SELECT', 1),
  },
  'too many clients': { 'one more': oneTooMany },
  MOVED: { 'a slot that has moved': () => whileMoving('the old node') },
  ASK: { 'a key that has moved': () => whileMoving('for one key') },
  CROSSSLOT: { 'keys of two slots': ofTwoSlots },
  TRYAGAIN: { 'one of two keys has moved': () => whileMoving('for two keys') },
  WRONGTYPE: {
    'a list': async () => {
      const server = await redisServer();
      await server.call('LPUSH', 'key', 'x');
      return rawClient(server.port)('EVAL', "return redis.call('GET', KEYS[1])", 1, 'key');
    },
  },
};

function renamed(command: string): readonly string[] {
  return [...argsOf({}), '--rename-command', command, ''];
}

test('each word of a server has a way to make a real one say it', () => {
  expect(Object.keys(WAYS)).toEqual(Object.keys(SERVER_WORDS));
});

describe.each(Object.entries(WAYS))('a real server says %s', (word, ways) => {
  test.each(Object.entries(ways))('of %s', async (_, provoke) => {
    const said = readError(await provoke());
    expect({ said, word: errorPrefix(said) }).toEqual({ said, word });
    const { concerns, remedy } = SERVER_WORDS[word]!;
    const { code, message } = callError({ server: 'server:1', isInCluster: true, script }, ['key'], said);
    expect(code).toBe(concerns === 'call' ? 'ERR_STORE_BUCKET' : 'ERR_STORE_UNAVAILABLE');
    expect(message).toContain(remedy);
  });
});

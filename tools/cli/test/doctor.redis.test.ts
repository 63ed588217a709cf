import { accountId, createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { redisStore } from '@sluice/redis';
import { rmSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadingServer } from '../../../packages/redis/test/support/loading-server.ts';
import { rawClient } from '../../../packages/redis/test/support/raw-client.ts';
import { redisCluster } from '../../../test/redis/servers/redis-cluster.ts';
import { argsOf, redisServer, serverWith, type RedisServer } from '../../../test/redis/servers/redis-server.ts';
import { sentinelSet } from '../../../test/redis/servers/sentinel-set.ts';
import { sharedCluster } from '../../../test/redis/servers/shared-cluster.ts';
import { canShift, inYear } from '../../../test/redis/servers/shifted-server.ts';
import { until } from '../../../test/redis/servers/until.ts';
import { commandsOf } from '../src/doctor/permissions.ts';
import { diagnosis } from './diagnosis.ts';
import { run } from './run.ts';

const PAGE = readFileSync(new URL('../../../docs/running-on-redis.md', import.meta.url), 'utf8');
const [ALL = [], IN_A_CLUSTER = []] = Array.from(
  PAGE.matchAll(/^ACL SETUSER sluice on '>secret' (.+)$/gm),
  ([, list = '']) => list.replaceAll("'", '').split(' '),
);

/** Whatever the machine does meanwhile, no round trip takes a third of that. */
const PATIENT = ['--deadline', '60s'];

const at = ({ url }: { readonly url: string }): readonly string[] => ['--redis', url];

async function configured(config: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const server = await redisServer();
  await Promise.all(Object.entries(config).map(([name, value]) => server.config(name, value)));
  return at(server);
}

async function asUser(...permissions: readonly string[]): Promise<readonly string[]> {
  const server = await redisServer();
  await server.call('ACL', 'SETUSER', 'limits', 'on', '>secret', ...permissions);
  return at({ url: server.url.replace('//', '//limits:secret@') });
}

const without = (...left: readonly string[]): Promise<readonly string[]> =>
  asUser(...ALL.filter((each) => !left.includes(each)));

async function holding(command: string, ...args: readonly (string | number)[]): Promise<readonly string[]> {
  const server = await redisServer();
  await server.call(command, ...args);
  return at(server);
}

async function withoutDisk(): Promise<readonly string[]> {
  const server = await serverWith(argsOf({ save: '3600 1' }));
  await server.call('SET', 'key', '1');
  rmSync(server.folder, { recursive: true });
  await server.call('BGSAVE').catch(() => {});
  await until('it has failed', async () => (await server.call<string>('INFO')).includes('last_bgsave_status:err'));
  return at(server);
}

async function almostNoClients(): Promise<readonly string[]> {
  const server = await redisServer({ config: { maxclients: '4' } });
  for (const port of [server.port, server.port]) rawClient(port);
  await until('they are connected', async () => (await server.clients()) === 3);
  return at(server);
}

async function partOfACluster(
  breakIt: (nodes: readonly RedisServer[]) => Promise<unknown>,
): Promise<readonly string[]> {
  const { nodes } = await redisCluster({ config: { 'cluster-require-full-coverage': 'no' } });
  await breakIt(nodes);
  return ['--cluster', ...at(nodes[0]!)];
}

/** Wrong set-ups, and what is said of each. */
const WRONG: Readonly<Record<string, readonly [said: RegExp, make: () => Promise<readonly string[]>]>> = {
  'nothing listens': [/^store: .*ECONNREFUSED/, async () => at(await redisServer({ absent: true }))],
  'another password': [
    /^store: .*WRONGPASS/,
    async () => at({ url: (await redisServer()).url.replace('//', '//limits:wrong@') }),
  ],
  'no password': [/^store: .*NOAUTH/, async () => at(await redisServer({ config: { requirepass: 'secret' } }))],
  'TLS where there is none': [
    /^store: /,
    async () => at({ url: (await redisServer()).url.replace('redis:', 'rediss:') }),
  ],
  'a database that there is not': [
    /^store: .*out of range/,
    async () => at({ url: `${(await redisServer()).url}/99` }),
  ],
  'a user who may not evaluate scripts': [/^permissions: lacks \+eval\b/, () => without('+eval')],
  'a user who may not write': [/^permissions: lacks \+set\b/, () => without('+set')],
  'a user who may not use sorted sets': [/^permissions: lacks \+zadd, which concurrency/, () => without('+zadd')],
  'a user of other keys': [
    /^permissions: lacks .*\+get \+set/,
    () => asUser('~other:*', ...ALL.filter((each) => !each.startsWith('~'))),
  ],
  'a user who may not ask': [/^server: it does not answer INFO/, () => without('+info')],
  'a command that was renamed': [
    /^permissions: lacks \+set\b/,
    async () => at(await serverWith([...argsOf({}), '--rename-command', 'SET', ''])),
  ],
  'a replica': [/^role: a replica of 127.0.0.1:1/, () => holding('REPLICAOF', '127.0.0.1', '1')],
  'a replica alone': [
    /^store: .*MASTERDOWN/,
    async () => {
      const server = await redisServer({ config: { 'replica-serve-stale-data': 'no' } });
      await server.call('REPLICAOF', '127.0.0.1', '1');
      return at(server);
    },
  ],
  'a server that loads': [/^loading: /, async () => at(await loadingServer())],
  'a policy that evicts all': [
    /^memory: .*allkeys-lru/,
    () => configured({ maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' }),
  ],
  'a policy that evicts some': [
    /^memory: .*volatile-lru/,
    () => configured({ maxmemory: '100mb', 'maxmemory-policy': 'volatile-lru' }),
  ],
  'a full memory': [/^memory: .*noeviction.* reject writes/, () => configured({ maxmemory: '1' })],
  'a disk that is gone': [/^persistence: rdb_last_bgsave_status is err/, withoutDisk],
  'replicas that lack': [/^replicas: 0, none/, () => configured({ 'min-replicas-to-write': '1' })],
  'almost no connections left': [/^connections: 4 of 4/, almostNoClients],
  'a clock that runs ahead': [/^clock: \d+ s ahead/, async () => at(await inYear(2030, () => serverWith(argsOf({}))))],
  'a list under the prefix': [/^keys: 'sluice:jobs' is not a bucket/, () => holding('RPUSH', 'sluice:jobs', '1')],
  'a hash under the prefix': [/^keys: 'sluice:jobs' is not a bucket/, () => holding('HSET', 'sluice:jobs', 'a', '1')],
  'a node of a cluster as a single server': [
    /^cluster: a node of one/,
    async () => at({ url: `redis://127.0.0.1:${(await sharedCluster()).addresses[0]!.port}` }),
  ],
  'a cluster that lacks a primary': [
    /^store: .*ECONNREFUSED/,
    () => partOfACluster((nodes) => Promise.all([nodes[2]!.kill(), nodes[5]!.kill()])),
  ],
  'a cluster that lacks a slot': [
    /^slots: 16383 of 16384/,
    () => partOfACluster((nodes) => Promise.all(nodes.map((node) => node.call('CLUSTER', 'DELSLOTS', 7)))),
  ],
  'a primary that no Sentinel knows': [
    /^store: /,
    async () => ['--sentinel', `127.0.0.1:${(await sentinelSet()).sentinels[0]!.port}`, '--master', 'other'],
  ],
};

describe('sluice doctor names', () => {
  it.each(Object.entries(WRONG).filter(([name]) => canShift || !name.includes('clock')))(
    '%s',
    async (_, [said, make]) => {
      const { code, wrong } = await diagnosis([...(await make()), '--timeout', '1000']);
      expect(wrong).toContainEqual(expect.stringMatching(said));
      expect(code).toBe(1);
    },
  );

  it('a deadline that is shorter than the round trips', async () => {
    const { code, out } = await run(['doctor', '--deadline', '1', ...at(await redisServer({}))]);
    expect(out).toMatch(/^(?:wrong|ok) +round trip +[\d.]+ ms, p99 [\d.]+ ms of 1 ms$/m);
    expect(code).toBe(/^wrong/m.test(out) ? 1 : 0);
  });
});

describe('sluice doctor is silent', () => {
  const SILENT = { code: 0, wrong: [], notes: [] };

  it('on a server with buckets of all kinds', async () => {
    const server = await redisServer();
    const limiter = createLimiter({
      limits: {
        Orders: { key: accountId(), count: 10, period: '1h' },
        Monthly: quota({ key: accountId(), count: 10, per: 'month' }),
        InFlight: concurrency({ key: everyone(), concurrency: 3, expiry: '1m' }),
      },
      store: redisStore({ url: server.url }),
    });
    await limiter.ready();
    await limiter.spend([
      { limit: 'Orders', id: '7' },
      { limit: 'Monthly', id: '7' },
    ]);
    await limiter.spend([{ limit: 'InFlight', id: 'everyone' }], { hold: true });
    const before = await contentOf(server);
    expect(await diagnosis(at(server))).toEqual(SILENT);
    // It has changed nothing.
    expect(await contentOf(server)).toEqual(before);
    await limiter.close({ store: true });
  });

  it('but for keys on a user with the permissions that the documentation lists', async () => {
    const { code, wrong, notes } = await diagnosis(await asUser(...ALL));
    expect({ code, wrong }).toEqual({ code: 0, wrong: [] });
    expect(notes).toEqual([expect.stringMatching(/^keys: not looked at/)]);
  });

  it('on a cluster', async () => {
    const { addresses } = await sharedCluster();
    expect(
      await diagnosis(['--cluster', '--redis', `redis://127.0.0.1:${addresses[0]!.port}`, '--prefix', 'doctor:']),
    ).toEqual(SILENT);
  });

  it('behind Sentinels', async () => {
    const { sentinels, name } = await sentinelSet();
    expect(await diagnosis(['--sentinel', `127.0.0.1:${sentinels[0]!.port}`, '--master', name])).toEqual(SILENT);
  });
});

it('sluice doctor tries commands that write so that they change nothing, as Redis counts changes', async () => {
  const server = await redisServer();
  const changes = async (): Promise<unknown> =>
    /rdb_changes_since_last_save:\d+/.exec(String(await server.call('INFO', 'persistence')))?.[0];
  await server.call('SET', 'other', '1');
  const before = await changes();
  await diagnosis(at(server));
  expect((await server.commandCalls()).get('zadd')).toBeGreaterThan(0);
  expect([before, await changes()]).toEqual(Array(2).fill('rdb_changes_since_last_save:1'));
});

it('sluice doctor tries the commands that the documentation lists', () => {
  const listed = (list: readonly string[]): string[] =>
    list.flatMap((each) => (each.startsWith('+') ? [each.slice(1)] : [])).toSorted();
  expect([commandsOf(false), commandsOf(true)].map((each) => each.toSorted())).toEqual([
    listed(ALL),
    listed(IN_A_CLUSTER),
  ]);
});

it('sluice doctor prints a table with remedies', async () => {
  const { out } = await run(['doctor', ...PATIENT, ...(await holding('RPUSH', 'sluice:jobs', '1'))]);
  expect(out).toMatch(/^ok {5}store +it can decide$/m);
  expect(out).toMatch(/^wrong {2}keys +'sluice:jobs' is not a bucket\n {7}Another program uses this prefix/m);
});

/** All keys with their contents. */
async function contentOf(server: RedisServer): Promise<unknown> {
  const keys = (await server.call<string[]>('KEYS', '*')).toSorted();
  const dumps = await Promise.all(keys.map((key) => server.call<string>('DUMP', key)));
  return keys.map((key, i) => [key, dumps[i]]);
}

import { readFileSync } from 'node:fs';
import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { redisStore } from '@sluice/redis';
import { Cluster } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redisServer, type RedisServer } from '../../../test/redis/servers/redis-server.ts';
import { sharedCluster } from '../../../test/redis/servers/shared-cluster.ts';
import { tcpProxy } from '../../../test/redis/servers/tcp-proxy.ts';
import { written } from './files.ts';
import { run, runJson } from './run.ts';

const LIMITS = `
Orders: { count: 300, period: 3h, idFormat: accountId }
Searches: { count: 100, period: 3h, idFormat: accountId }
Monthly: { count: 1000, per: month, idFormat: accountId }
InFlight: { concurrency: 10, idFormat: accountId }
PerUser: { count: 10, period: 1h, idFormat: accountId, borrow: { from: Pool, ceiling: { count: 20, period: 1h } } }
Pool: { count: 100, period: 1h }
`;
const OVERRIDES = '- Orders: { count: 600, period: 3h, ids: [gold] }\n';

/** A cost that is different for each id below 299. */
const costOf = (i: number): number => 1 + ((i * 7) % 299);

/** Charges buckets as a server does: `id0` to `id…` of Orders. */
async function charged({ url }: RedisServer, ids: number, prefix = 'sluice:'): Promise<void> {
  const store = redisStore({ url, prefix });
  const limiter = createLimiter({
    limits: { Orders: { key: accountId(), count: 300, period: '3h' } },
    store,
    failure: { deadlineMs: 20_000 },
  });
  await limiter.ready();
  const charges = Array.from({ length: ids }, (_, i) =>
    limiter.charge([{ limit: 'Orders', id: `id${i}`, cost: costOf(i) }]),
  );
  await Promise.all(charges);
  await limiter.close({ store: true });
}

/** The ids that `top` should list. */
function emptiestOf(ids: number, count: number): { id: string; remaining: number }[] {
  return Array.from({ length: ids }, (_, i) => ({ id: `id${i}`, remaining: 300 - costOf(i) }))
    .toSorted((a, b) => a.remaining - b.remaining)
    .slice(0, count);
}

interface Top {
  readonly complete: boolean;
  readonly keys: number;
  readonly buckets: number;
  readonly top: readonly { readonly limit: string; readonly id: string; readonly remaining: number }[];
}

const files = (): string[] => written(LIMITS, OVERRIDES);

async function topOf(server: RedisServer, ...options: string[]): Promise<Top> {
  return (await runJson(['top', '--redis', server.url, ...options, ...files()])) as Top;
}

describe('sluice top', () => {
  it('lists the emptiest of thousands of buckets, among the keys of other programs', async () => {
    const server = await redisServer();
    await charged(server, 299);
    await charged(server, 3000, 'other:');
    await server.call('EVAL', "for i = 1, 3000 do redis.call('SET', 'sluice:session:' .. i, 'x') end", 0);
    // Keys of servers with a hash tag, of another kind of limit, and of no limit at all.
    for (const key of [
      '{x}:Orders:id1',
      'Orders:{id1}',
      'Orders:id1@month:1:0:UTC',
      'Orders:%zz',
      ':seq:id1',
      'Orders',
    ]) {
      await server.call('SET', `sluice:${key}`, '1');
    }
    const { top, ...found } = await topOf(server, '--count', '20');
    // And the key by which the server tells others its numbers.
    expect(found).toEqual({ complete: true, keys: 3306, buckets: 299, longIds: 0, broken: 0, blocked: 0 });
    expect(top.map(({ id, remaining }) => ({ id, remaining }))).toEqual(emptiestOf(299, 20));
  });

  it('looks at the keys in small steps, and changes none', async () => {
    const server = await redisServer();
    await charged(server, 3000);
    const state = (): Promise<unknown> =>
      server.call(
        'EVAL',
        "local all = redis.call('KEYS', '*') table.sort(all) local s = '' for _, k in ipairs(all) do s = redis.sha1hex(s .. k .. redis.call('DUMP', k) .. redis.call('PEXPIRETIME', k)) end return s",
        0,
      );
    const before = await state();
    await server.call('CONFIG', 'RESETSTAT');
    expect(await topOf(server)).toMatchObject({ buckets: 3000 });
    const calls = await server.commandCalls();
    expect(calls.get('scan')).toBeGreaterThanOrEqual(3000 / 400);
    expect(calls.has('keys')).toBe(false);
    expect(await state()).toBe(before);
  });

  it('lists buckets of all kinds, by the part that is left, and those of one limit', async () => {
    const server = await redisServer();
    const [limits = '', overrides = ''] = files();
    const charge = (limit: string, id: string, cost: number) =>
      run(['charge', '--redis', server.url, limits, overrides, limit, id, '--cost', String(cost)]);
    await charge('Orders', 'gold', 300);
    await charge('Orders', 'b:c{d}', 200);
    await charge('Monthly', 'alice', 900);
    await charge('PerUser', 'alice', 8);
    await charge('Orders', 'x'.repeat(250), 100);
    const store = redisStore({ url: server.url });
    const limiter = createLimiter({ limits: { InFlight: concurrency({ key: accountId(), concurrency: 10 }) }, store });
    onTestFinished(async () => limiter.close({ store: true }));
    await limiter.ready();
    const held = await limiter.spend([{ limit: 'InFlight', id: 'alice' }], { hold: true });
    const args = ['top', '--redis', server.url, limits, overrides];
    const { code, out, err } = await run(args);
    expect(code).toBe(0);
    expect(out.replace(/, full in .*/g, '')).toBe(`Monthly alice: 100 of 1000 tokens left
PerUser alice: 2 of 10 tokens left
Orders b:c{d}: 100 of 300 tokens left
Orders gold: 300 of 600 tokens left
InFlight alice: 9 of 10 slots left
Pool everyone: 92 of 100 tokens left
`);
    expect(err).toContain('Buckets of these limits: 6.\nLeft out because their id is too long to be in the key: 1.\n');
    expect((await run([...args, '--limit', 'PerUser'])).out).toMatch(/^PerUser alice: .*\n$/);
    expect((await run([...args, '--limit', 'Users'])).err).toContain("No limit is named 'Users'.");
    await held.release();
  });

  it('leaves out keys that contain something else than a bucket, and says how many', async () => {
    const server = await redisServer();
    await charged(server, 3);
    await server.call('SET', 'sluice:Orders:kim', 'hello');
    expect(await topOf(server)).toMatchObject({ buckets: 3, broken: 1 });
    expect((await run(['top', '--redis', server.url, ...files()])).err).toContain(
      'Left out because they contain something else than a bucket: 1.',
    );
  });

  it('leaves out the ids that are blocked, and says how many', async () => {
    const server = await redisServer();
    await charged(server, 3);
    const block = [
      'block',
      '--redis',
      server.url,
      'Orders',
      'id1',
      '--for',
      '1h',
      '--reason',
      'ticket 4711',
      '--by',
      'mia',
    ];
    expect(await run(block)).toMatchObject({ code: 0 });
    const { top, ...found } = await topOf(server);
    expect(found).toMatchObject({ buckets: 2, blocked: 1 });
    expect(top.map(({ id }) => id)).toEqual(['id2', 'id0']);
    expect((await run(['top', '--redis', server.url, ...files()])).err).toContain(
      'Left out because their id is blocked: 1.',
    );
  });

  it('ends at --max-keys, and marks the result as a part', async () => {
    const server = await redisServer();
    await charged(server, 2000);
    expect(await topOf(server, '--max-keys', '500')).toMatchObject({ complete: false });
    const { err } = await run(['top', '--redis', server.url, '--max-keys', '500', ...files()]);
    expect(err).toContain('Not all keys were scanned. To look at more, raise --max-keys.');
    expect(await topOf(server, '--max-keys', '10000')).toMatchObject({ complete: true, keys: 2001 });
  });

  it('looks at no more than --max-keys of the keys of other programs', async () => {
    const server = await redisServer();
    await server.call('EVAL', "for i = 1, 20000 do redis.call('SET', 'session:' .. i, 1) end", '0');
    const before = (await server.commandCalls()).get('scan') ?? 0;
    expect(await topOf(server, '--max-keys', '1000')).toMatchObject({ complete: false, keys: 0 });
    expect((await server.commandCalls()).get('scan')! - before).toBeLessThanOrEqual(6);
  });

  it('ends with what it has seen after Ctrl-C, marked as a part', async () => {
    const server = await redisServer();
    await charged(server, 2000);
    const controller = new AbortController();
    const args = ['top', '--redis', server.url, '--json', ...files()];
    const running = run(args, { interrupted: controller.signal });
    await expect.poll(async () => (await server.commandCalls()).has('scan')).toBe(true);
    controller.abort();
    const { code, out } = await running;
    expect(code).toBe(130);
    expect(JSON.parse(out)).toMatchObject({ complete: false });
  });

  it('reports a server that stops answering', async () => {
    const server = await redisServer();
    await charged(server, 2000);
    const proxy = await tcpProxy(server);
    proxy.onRequest = (chunk) => {
      if (chunk.includes('scan')) proxy.blackhole('replies');
    };
    const { code, out, err } = await run(['top', '--redis', proxy.url, '--timeout', '500', ...files()]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Redis could not list its keys (SCAN): Command timed out');
  });

  it('reports a server that stops answering between two steps', async () => {
    const server = await redisServer();
    await charged(server, 2000);
    const proxy = await tcpProxy(server);
    proxy.onRequest = (chunk) => {
      if (chunk.includes('sluice:Orders:')) proxy.blackhole('replies');
    };
    const { code, out, err } = await run(['top', '--redis', proxy.url, '--timeout', '500', ...files()]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('ERR_STORE_DEADLINE');
  });

  it('needs the permissions of a server and +scan, and reports that it is missing', async () => {
    const page = readFileSync(new URL('../../../docs/running-on-redis.md', import.meta.url), 'utf8');
    const [, name = '', rights = ''] = /^ACL SETUSER (\w+) on (.*)$/m.exec(page) ?? [];
    const server = await redisServer();
    await server.call('ACL', 'SETUSER', name, 'on', ...rights.replaceAll("'", '').split(' '));
    await charged(server, 3);
    const url = server.url.replace('//', `//${name}:secret@`);
    const { code, err } = await run(['top', '--redis', url, ...files()]);
    expect(code).toBe(2);
    expect(err).toContain('Redis could not list its keys (SCAN): NOPERM');
    await server.call('ACL', 'SETUSER', name, '+scan');
    expect(await runJson(['top', '--redis', url, ...files()])).toMatchObject({ buckets: 3 });
  });

  it.each([[[]], [['--hash-tag', 'id']], [['--hash-tag', 'all']]])(
    'lists the buckets of all primaries of a cluster, with %j',
    async (options) => {
      const { addresses } = await sharedCluster();
      const prefix = `top${options.join('')}:`;
      const cluster = new Cluster([...addresses], { lazyConnect: true });
      onTestFinished(() => cluster.disconnect());
      const hashTag = options[1];
      const store = redisStore({ client: cluster, prefix, ...(hashTag !== undefined && { hashTag }) });
      const limiter = createLimiter({
        limits: { Orders: { key: accountId(), count: 300, period: '3h' } },
        store,
        failure: { deadlineMs: 20_000 },
      });
      await limiter.ready();
      await Promise.all(
        Array.from({ length: 100 }, (_, i) => limiter.charge([{ limit: 'Orders', id: `id${i}`, cost: costOf(i) }])),
      );
      await limiter.close({ store: true });
      const url = `redis://127.0.0.1:${addresses[0]?.port}`;
      for (const limit of [[], ['--limit', 'Orders']]) {
        const args = ['top', '--redis', url, '--cluster', '--prefix', prefix, ...options, ...limit, ...files()];
        const { top, buckets } = (await runJson(args)) as Top;
        expect(buckets).toBe(100);
        expect(top.map(({ id, remaining }) => ({ id, remaining }))).toEqual(emptiestOf(100, 10));
      }
    },
  );
});

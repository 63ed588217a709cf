import { accountId, createLimiter, type Limiter } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { concurrency } from '@sluice/core/concurrency';
import { quota } from '@sluice/core/quota';
import { redisStore } from '@sluice/redis';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { redisServer, type RedisServer } from '../../../test/redis/servers/redis-server.ts';
import { written } from './files.ts';
import { run, runJson, type Given } from './run.ts';

const LIMITS = `
Orders: { count: 300, period: 3h, idFormat: accountId }
Monthly: { count: 1000, per: month, idFormat: accountId }
InFlight: { concurrency: 10, idFormat: accountId }
PerProcess: { concurrency: 10, scope: process, idFormat: accountId }
Worker: { load: eventLoop }
Exports: { count: 1, period: 1m, maxWait: 1m, idFormat: accountId }
PerUser: { count: 10, period: 1m, idFormat: accountId, borrow: { from: Pool, ceiling: { count: 20, period: 1m } } }
Pool: { count: 100, period: 1m }
`;
const OVERRIDES = `
- Orders: { count: 600, period: 3h, ids: [gold] }
- Orders: { unlimited: true, ids: [robot] }
- Orders: { blocked: true, ids: [spammer] }
`;

/** All keys of a server with their values and expiries, to the byte. */
async function contentsOf(server: RedisServer): Promise<Map<string, string>> {
  const keys = (await server.call<string[]>('KEYS', '*')).toSorted();
  const rows = keys.map(async (key): Promise<[string, string]> => {
    const script = "return { redis.sha1hex(redis.call('DUMP', KEYS[1])), redis.call('PEXPIRETIME', KEYS[1]) }";
    return [key, String(await server.call('EVAL', script, 1, key))];
  });
  return new Map(await Promise.all(rows));
}

/** The limiter of a server with the limits of these files. */
function production(server: RedisServer): Limiter {
  const key = accountId();
  const store = redisStore({ url: server.url });
  const ceiling = { count: 20, period: '1m' };
  const limiter = createLimiter({
    limits: {
      Orders: { key, count: 300, period: '3h' },
      Monthly: quota({ key, count: 1000, per: 'month' }),
      InFlight: concurrency({ key, concurrency: 10 }),
      Exports: { key, count: 1, period: '1m', maxWait: '1m' },
      PerUser: borrow({ key, count: 10, period: '1m', borrow: { from: 'Pool', ceiling } }),
      Pool: { key: { ...key, format: { name: 'everyone', canonical: (text) => text } }, count: 100, period: '1m' },
    },
    overrides: { Orders: { gold: { count: 600, period: '3h' } } },
    store,
    failure: { deadlineMs: 5000 },
  });
  onTestFinished(async () => limiter.close({ store: true }));
  return limiter;
}

describe('on one server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await redisServer();
  });

  /** Runs a command on the server. */
  const on = (command: string, ...rest: string[]) => {
    const [limits = '', overrides = ''] = written(LIMITS, OVERRIDES);
    return run([command, '--redis', server.url, limits, overrides, ...rest]);
  };
  const jsonOn = (command: string, ...rest: string[]) => {
    const [limits = '', overrides = ''] = written(LIMITS, OVERRIDES);
    return runJson([command, '--redis', server.url, limits, overrides, ...rest]);
  };

  it('peek shows what a server decides next', async () => {
    const limiter = production(server);
    await limiter.ready();
    await limiter.spend([{ limit: 'Orders', id: 'alice', cost: 299 }]);
    expect(await jsonOn('peek', 'Orders', 'alice', '--cost', '2')).toMatchObject({
      limit: 'Orders',
      id: 'alice',
      kind: 'rate',
      state: 'counted',
      override: null,
      allowed: false,
      remaining: 1,
      burst: 300,
    });
    expect(await jsonOn('peek', 'Orders', 'alice')).toMatchObject({ allowed: true });
    expect((await limiter.spend([{ limit: 'Orders', id: 'alice' }])).allowed).toBe(true);
    expect(await jsonOn('peek', 'Orders', 'alice')).toMatchObject({ allowed: false, remaining: 0 });
    expect((await on('peek', 'Orders', 'alice')).out).toMatch(
      /^Orders alice: 0 of 300 tokens left\n.*300 per 3 h, burst 300, from the limit itself\n.*\n.* is denied for 3\d(\.\d)? s\n$/,
    );
  });

  it('peek changes nothing, whatever the kind of the limit', async () => {
    const limiter = production(server);
    await limiter.ready();
    await limiter.spend([
      { limit: 'Orders', id: 'bob' },
      { limit: 'Monthly', id: 'bob', cost: 7 },
      { limit: 'Exports', id: 'bob' },
    ]);
    await limiter.spend([{ limit: 'PerUser', id: 'bob', cost: 10 }]);
    await limiter.spend([{ limit: 'PerUser', id: 'bob', cost: 2 }]);
    const held = await limiter.spend([{ limit: 'InFlight', id: 'bob' }], { hold: true });
    const before = await contentsOf(server);
    expect(before.size).toBeGreaterThanOrEqual(6);
    for (const limit of ['Orders', 'Monthly', 'Exports', 'PerUser', 'InFlight']) {
      expect((await on('peek', limit, 'bob')).code).toBe(0);
      expect((await on('peek', limit, 'nobody')).code).toBe(0);
    }
    expect((await on('peek', 'Pool', 'everyone')).code).toBe(0);
    expect(await contentsOf(server)).toEqual(before);
    await held.release();
  });

  it('peek shows the period of a quota, free slots, a wait, and what decides without numbers', async () => {
    const limiter = production(server);
    await limiter.ready();
    await limiter.spend([{ limit: 'Monthly', id: 'carol', cost: 7 }]);
    await limiter.spend([{ limit: 'Exports', id: 'carol' }]);
    const held = await limiter.spend([{ limit: 'InFlight', id: 'carol' }], { hold: true });
    const start = new Date();
    const month = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), 1)).toISOString();
    expect(await jsonOn('peek', 'Monthly', 'carol')).toMatchObject({ remaining: 993, period: { start: month } });
    expect((await on('peek', 'Monthly', 'carol')).out).toContain(`  period    ${month} to `);
    expect((await on('peek', 'InFlight', 'carol')).out).toMatch(/^InFlight carol: 9 of 10 slots left\n/);
    expect((await on('peek', 'Exports', 'carol')).out).toMatch(/is allowed after a wait of [\d.]+ m?s\n$/);
    expect((await on('peek', 'Orders', 'robot')).out).toBe('Orders robot: unlimited, by an override for robot\n');
    expect((await on('peek', 'Orders', 'spammer')).out).toBe('Orders spammer: blocked, by an override for spammer\n');
    expect(await jsonOn('peek', 'Orders', 'robot')).toMatchObject({ remaining: 'Infinity', allowed: true });
    expect(await jsonOn('peek', 'Orders', 'gold')).toMatchObject({ burst: 600, override: 'gold' });
    await held.release();
  });

  it.each(['PerProcess', 'Worker'])('peek explains why %s has no bucket in Redis', async (limit) => {
    const { code, err } = await on('peek', limit, '10.1.2.3');
    expect(code).toBe(2);
    expect(err).toContain(`The limit \`${limit}\` is counted in each process, so it has no buckets in Redis.`);
  });

  it('peek says that leased tokens count as taken', async () => {
    const [limits = ''] = written('Searches: { count: 100, period: 1s, overshoot: 0.1, idFormat: accountId }\n');
    const { out, err } = await run(['peek', '--redis', server.url, limits, 'Searches', 'a']);
    expect(out).toMatch(/^Searches a: 100 of 100 tokens left\n/);
    expect(err).toBe('Tokens that processes have leased count as taken.\n');
  });

  it('charge prints what was charged of a bucket with fewer tokens', async () => {
    const { err } = await on('charge', 'Orders', 'zoe', '--cost', '900');
    expect(err).toMatch(/^Charged \d+ of 900: there were no more tokens\.\n$/);
    expect(await jsonOn('charge', 'Orders', 'zoe', '--cost', '900')).toMatchObject({ charged: 0 });
  });

  it('charge takes tokens each time, and none of an unlimited id', async () => {
    expect(await on('charge', 'Orders', 'dave', '--cost', '5')).toMatchObject({ code: 0, err: 'Charged 5.\n' });
    expect(await jsonOn('charge', 'Orders', 'dave', '--cost', '5')).toMatchObject({
      charged: 5,
      bucket: { remaining: 290 },
    });
    const { err, out } = await on('charge', 'Orders', 'robot');
    expect({ err, out }).toEqual({
      err: 'Charged nothing, because the id is unlimited.\n',
      out: 'Orders robot: unlimited, by an override for robot\n',
    });
  });

  it('refund gives back tokens, and repeated with --up-to gives back nothing more', async () => {
    await on('charge', 'Orders', 'erin', '--cost', '100');
    expect(await jsonOn('refund', 'Orders', 'erin', '--cost', '20')).toMatchObject({
      refunded: 20,
      before: 200,
      bucket: { remaining: 220 },
    });
    const again = ['refund', 'Orders', 'erin', '--cost', '20', '--up-to', '230'] as const;
    expect(await jsonOn(...again)).toMatchObject({ refunded: 10, bucket: { remaining: 230 } });
    expect(await jsonOn(...again)).toMatchObject({ refunded: 0, bucket: { remaining: 230 } });
    expect((await on(...again)).err).toBe('Gave back nothing: there are 230 tokens already.\n');
  });

  it('refund never fills a bucket above its burst', async () => {
    await on('charge', 'Orders', 'frank', '--cost', '3');
    expect(await jsonOn('refund', 'Orders', 'frank', '--cost', '100')).toMatchObject({ refunded: 3 });
    expect((await on('refund', 'Orders', 'frank')).err).toBe('Gave back nothing: the bucket is full.\n');
    expect((await on('refund', 'Orders', 'robot')).err).toBe('Gave back nothing: the id is unlimited.\n');
    expect((await on('peek', 'Orders', 'frank')).out).toMatch(/^Orders frank: 300 of 300/);
  });

  it('refund gives back no more than an empty bucket lacks, and reports that', async () => {
    await on('charge', 'Orders', 'hana', '--cost', '300');
    expect(await jsonOn('refund', 'Orders', 'hana', '--cost', '5000')).toMatchObject({
      refunded: 300,
      before: 0,
      bucket: { remaining: 300 },
    });
  });

  it('refund fills an empty bucket', async () => {
    await on('charge', 'Orders', 'gina', '--cost', '500');
    expect(await jsonOn('refund', 'Orders', 'gina', '--cost', '2', '--up-to', '2')).toMatchObject({
      refunded: 2,
      before: 0,
      bucket: { remaining: 2 },
    });
  });

  it('reset fills a bucket and that of its ceiling, and can be repeated', async () => {
    const limiter = production(server);
    await limiter.ready();
    await limiter.spend([{ limit: 'PerUser', id: 'hugo', cost: 10 }]);
    await limiter.spend([{ limit: 'PerUser', id: 'hugo', cost: 2 }]);
    for (let times = 0; times < 2; times++) {
      expect(await jsonOn('reset', 'PerUser', 'hugo', '--yes')).toMatchObject({ bucket: { remaining: 10 } });
    }
    expect((await server.call<string[]>('KEYS', '*hugo*')).filter((key) => !key.includes('Pool'))).toEqual([]);
  });

  describe('reset without --yes', () => {
    const reset = async (given: Given, ...words: string[]) => {
      const [limits = ''] = written(LIMITS);
      await run(['charge', '--redis', server.url, limits, 'Orders', 'ida', '--cost', '4']);
      const ran = await run(['reset', '--redis', server.url, limits, 'Orders', 'ida', ...words], given);
      const peeked = await run(['peek', '--redis', server.url, limits, 'Orders', 'ida']);
      await run(['reset', '--yes', '--redis', server.url, limits, 'Orders', 'ida']);
      return { ...ran, left: /: (\d+) of/.exec(peeked.out)?.[1] };
    };

    it('asks for the name of the limit on a terminal, and shows the bucket before', async () => {
      const { code, err, left } = await reset({ isTty: true, stdin: 'Orders\n' });
      expect({ code, left }).toEqual({ code: 0, left: '300' });
      expect(err).toMatch(
        /^Orders ida: 296 of 300 tokens left\n[\s\S]*Type the name of the limit to reset this bucket: $/,
      );
    });

    it.each(['yes\n', 'orders\n', '\n', ''])('resets nothing for the answer %j', async (stdin) => {
      const { code, err, left } = await reset({ isTty: true, stdin });
      expect({ code, left }).toEqual({ code: 2, left: '296' });
      expect(err).toContain('error: The name of the limit is `Orders`. Nothing was reset.');
    });

    it('is rejected with the remedy where stdin is not a terminal', async () => {
      const { code, err, left } = await reset({ stdin: 'Orders\n' });
      expect({ code, left }).toEqual({ code: 2, left: '296' });
      expect(err).toContain('To reset the bucket without it, add --yes.');
    });
  });

  it('shows an id whose characters are invisible or reorder others, without their effect', async () => {
    for (const command of ['peek', 'explain']) {
      const [limits = ''] = written(LIMITS);
      const words = command === 'peek' ? ['Orders', 'a\u202Eb'] : ['--limit', 'Orders', 'a\u202Eb'];
      const options = command === 'peek' ? ['--redis', server.url] : [];
      expect((await run([command, ...options, limits, ...words])).out).toMatch(/^Orders a\\u\{202e\}b: /);
    }
  });

  it('uses the prefix and the hash tag of the servers', async () => {
    const [module = ''] = written(LIMITS);
    const options = ['--prefix', 'shop:', '--hash-tag', 'id'];
    await on('charge', 'Orders', 'jan', ...options);
    expect(await server.call('EXISTS', 'shop:Orders:{jan}')).toBe(1);
    const { code, err } = await on('peek', 'Orders', 'jan', '--prefix', 'a b');
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining('`prefix` must be') as string });
    const both = await on('peek', 'Orders', 'jan', '--hash-tag', 'id', '--hash-tag-module', module);
    expect(both.err).toContain('Only one of `--hash-tag` and `--hash-tag-module` may be given.');
  });

  it('reports a bucket that contains something else', async () => {
    await server.call('SET', 'sluice:Orders:kim', 'hello');
    for (const command of ['peek', 'charge', 'refund']) {
      const { code, err, out } = await on(command, 'Orders', 'kim');
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain('sluice:Orders:kim');
    }
  });

  it('rejects wrong words, limits and ids, and files with mistakes', async () => {
    expect((await on('peek', 'Orders', 'a', 'b')).err).toContain(
      'There must be at most 4 words here, but there are 5:',
    );
    expect((await on('peek', 'Ordrs', 'a')).err).toContain("No limit is named 'Ordrs'. Did you mean `Orders`?");
    expect((await on('peek', 'Orders', '')).code).toBe(2);
    expect((await on('charge', 'Orders', 'a', '--cost', '1.5')).err).toContain('`--cost` must be a whole number');
    expect((await on('peek', 'Orders', 'a', '--cost', '301')).err).toContain('ERR_COST_OVER_BURST');
    const [limits = ''] = written('Orders: { count: 0, period: 3h, idFormat: accountId }\n');
    const { code, err } = await run(['peek', '--redis', server.url, limits, 'Orders', 'a']);
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('limits.yaml:1:18: ') as string });
  });

  it('reads the URL from the environment, where the list of processes does not show it', async () => {
    const [limits = ''] = written(LIMITS);
    const env = { SLUICE_REDIS_URL: server.url };
    expect((await run(['peek', limits, 'Orders', 'lea'], { env })).code).toBe(0);
  });
});

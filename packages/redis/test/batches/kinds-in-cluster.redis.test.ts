import { accountId, createLimiter, everyone } from '@sluice/core';
import { borrow } from '@sluice/core/borrow';
import { quota } from '@sluice/core/quota';
import type { RedisStoreOptions } from '@sluice/redis';
import { Cluster } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sharedCluster } from '../../../../test/redis/servers/shared-cluster.ts';
import { until } from '../../../../test/redis/servers/until.ts';
import { readyStore } from '../support/ready-store.ts';

const cluster = await sharedCluster();

/** 2 tokens of its own for each tenant, 4 with borrowed ones; 6 in the pool. None comes back while a test runs. */
const limits = {
  PerTenant: borrow({
    key: accountId(),
    count: 2,
    period: '1h',
    borrow: { from: 'Pool', ceiling: { count: 4, period: '1h' }, fair: false },
  }),
  Pool: { key: everyone(), count: 6, period: '1h' },
  Monthly: quota({ key: accountId(), count: 3, per: 'month' }),
  Rate: { key: accountId(), count: 5, period: '1h' },
} as const;

async function started(options: Pick<RedisStoreOptions, 'hashTag'>) {
  const client = new Cluster([...cluster.addresses], { lazyConnect: true });
  const store = await readyStore({ client, log: false, rememberDenialsMs: 0, ...options });
  const limiter = createLimiter({ limits, store, failure: { deadlineMs: 5000, onFailure: 'closed' }, log: false });
  onTestFinished(() => limiter.close({ store: true }));
  const left = async (limit: 'PerTenant' | 'Pool' | 'Monthly' | 'Rate', id: string): Promise<number> =>
    (await limiter.check([{ limit, id, cost: 0 }])).remaining;
  // What it reads aside would count among the calls.
  await limiter.ready();
  /** The calls of the script that a piece of work needs. */
  const callsOf = async (work: () => unknown): Promise<number> => {
    const before = store.status().counts.calls;
    await work();
    return store.status().counts.calls - before;
  };
  return { limiter, left, callsOf };
}

type Setup = Awaited<ReturnType<typeof started>>;

/** Sends requests of a tenant one after another, and returns how each was decided. */
async function spent({ limiter }: Setup, id: string, count: number): Promise<string[]> {
  const outcomes: string[] = [];
  for (let i = 0; i < count; i++) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    const { allowed, results } = await limiter.spend([{ limit: 'PerTenant', id }]);
    outcomes.push(allowed ? (results[0]?.borrowed ? 'borrowed' : 'own') : 'denied');
  }
  return outcomes;
}

/** Tags by which a pool and its tenants share a slot, and others by which they do not. */
const ONE_SLOT = { hashTag: 'all' };
const SEVERAL_SLOTS: [string, Pick<RedisStoreOptions, 'hashTag'>][] = [
  ['without a hash tag', {}],
  ["with hashTag: 'id', because the pool has an id of its own", { hashTag: 'id' }],
  ['with a function that gives the pool a tag of its own', { hashTag: ({ limit }) => limit }],
];

describe('in a cluster, a limit that borrows', () => {
  test.each([['with a fixed hash tag', ONE_SLOT] as const, ...SEVERAL_SLOTS])(
    'takes its own tokens, then those of the pool up to its ceiling, %s',
    async (_, options) => {
      const setup = await started(options);
      const { limiter, left } = setup;
      expect(await spent(setup, 'a', 5)).toEqual(['own', 'own', 'borrowed', 'borrowed', 'denied']);
      // The pool has 2 tokens, which are the own ones of b; then nothing is left to borrow.
      expect(await spent(setup, 'b', 3)).toEqual(['own', 'own', 'denied']);
      expect(await left('Pool', 'everyone')).toBe(0);
      // c is assured its own tokens although the pool is empty.
      const decision = await limiter.spend([{ limit: 'PerTenant', id: 'c' }]);
      expect(decision).toMatchObject({ allowed: true, results: [{ borrowed: false }] });
      await limiter.refund(decision);
      expect(await left('PerTenant', 'c')).toBe(2);
    },
  );

  test('is decided by one call when a fixed hash tag keeps all buckets in one slot', async () => {
    const setup = await started(ONE_SLOT);
    expect(await setup.callsOf(() => spent(setup, 'a', 5))).toBe(5);
  });

  test.each(SEVERAL_SLOTS)('needs several calls for a decision %s', async (_, options) => {
    const setup = await started(options);
    expect(await setup.callsOf(() => spent(setup, 'a', 1))).toBeGreaterThan(1);
  });

  test('never lends more than there is, however many ask, and a denied request leaves nothing taken', async () => {
    const setup = await started({});
    const { limiter } = setup;
    const ask = (_: unknown, i: number) => limiter.spend([{ limit: 'PerTenant', id: i % 2 === 0 ? 'a' : 'b' }]);
    const results = (await Promise.all(Array.from({ length: 40 }, ask))).flatMap((decision) => decision.results);
    const taken = results.filter(({ allowed }) => allowed);
    expect(taken.filter(({ borrowed }) => !borrowed).length).toBeLessThanOrEqual(4);
    expect(taken.length).toBeLessThanOrEqual(6);
    await until('the tokens of denied requests are given back', async () => {
      return (await setup.left('Pool', 'everyone')) === 6 - taken.length;
    });
  });
});

describe('in a cluster, a quota', () => {
  const both = (id: string, cost: number) => [
    { limit: 'Monthly', id, cost } as const,
    { limit: 'Rate', id, cost } as const,
  ];

  test.each([
    ['in one slot', { hashTag: 'id' }, 1],
    ['in several slots', {}, 2],
  ])('and a rate of the same id take all or nothing, %s', async (_, options, calls) => {
    const { limiter, left, callsOf } = await started(options);
    expect(await callsOf(() => limiter.spend(both('7', 2)))).toBe(calls);
    expect(await limiter.spend(both('7', 2))).toMatchObject({ allowed: false, limit: 'Monthly', remaining: 1 });
    expect([await left('Monthly', '7'), await left('Rate', '7')]).toEqual([1, 3]);
    expect(await limiter.spend(both('7', 1))).toMatchObject({ allowed: true, remaining: 0 });
  });

  test('counts the ids of all slots, also for usage, charge and refund', async () => {
    const { limiter, left } = await started({});
    const ids = Array.from({ length: 12 }, (_, i) => `id-${i}`);
    const entries = ids.map((id) => ({ limit: 'Monthly', id }) as const);
    await limiter.spend(entries);
    await limiter.charge(entries);
    await limiter.refund(entries.slice(0, 1));
    const usage = await limiter.usage(entries);
    expect(usage.map(({ used, count }) => [used, count])).toEqual(ids.map((_, i) => [i === 0 ? 1 : 2, 3]));
    expect(new Set(usage.map(({ end }) => end.getTime())).size).toBe(1);
    expect(await left('Monthly', 'id-0')).toBe(2);
  });
});

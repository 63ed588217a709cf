import { accountId, createLimiter, type Limiter } from '@sluice/core';
import { Ratelimit } from '@upstash/ratelimit';
import type { Redis } from 'ioredis';
import { pair, type Rows } from './pairs.ts';
import { onRedis, onSilence } from './stores.ts';

const ID = 'a';

/**
 * Their scripts on a Redis. Its client is one of HTTP, and passes arguments in another form; and only the servers of Upstash
 * know the flag in the first line of a script.
 */
const overTcp = (client: Redis): ConstructorParameters<typeof Ratelimit>[0]['redis'] =>
  ({
    evalsha: () => Promise.reject(new Error('NOSCRIPT')),
    eval: (script: string, keys: string[], args: unknown[]) =>
      client.eval(script.replace(' flags=allow-key-locking', ''), keys.length, ...keys, ...args.map(String)),
  }) as never;

type Algorithm = ConstructorParameters<typeof Ratelimit>[0]['limiter'];

/** Both on one Redis. */
async function onOne(
  algorithm: Algorithm,
  limit: object,
): Promise<{ readonly theirs: Ratelimit; readonly ours: Limiter }> {
  const { client, limiter: shared } = await onRedis();
  const limits = { Calls: { key: accountId(), ...limit } } as never;
  return {
    theirs: new Ratelimit({ redis: overTcp(client), limiter: algorithm, ephemeralCache: false }),
    ours: createLimiter({ limits, ...shared }),
  };
}
const TEN = { count: 10, period: '1m' };
const entry = (cost = 1) => [{ limit: 'Calls', id: ID, cost }] as const;

/** Each call takes so much: whether it was allowed, and what remains. */
async function taken<Answer>(
  costs: readonly number[],
  take: (cost: number) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const results: Answer[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (const cost of costs) results.push(await take(cost));
  return results;
}
const limited = (of: Ratelimit) => async (rate: number) => {
  const { success, remaining } = await of.limit(ID, { rate });
  return [success, Math.max(0, remaining)];
};
const spent = (of: Limiter) => async (cost: number) => {
  const { allowed, remaining } = await of.spend(entry(cost));
  return [allowed, remaining];
};

export const calls: Rows = {
  "`Ratelimit.tokenBucket(10, '1 m', 50)`": async () => {
    const { theirs, ours } = await onOne(Ratelimit.tokenBucket(10, '1 m', 50), { ...TEN, burst: 50 });
    return pair(
      () => taken([49, 1, 1], limited(theirs)),
      () => taken([49, 1, 1], spent(ours)),
    );
  },
  "`Ratelimit.slidingWindow(10, '1 m')`": async () => {
    const { theirs, ours } = await onOne(Ratelimit.slidingWindow(10, '1 m'), TEN);
    return pair(
      () => taken([9, 1, 1], limited(theirs)),
      () => taken([9, 1, 1], spent(ours)),
    );
  },
  '`limit(id)`, `limit(id, { rate: 2 })`': async () => {
    const { theirs, ours } = await onOne(Ratelimit.fixedWindow(10, '1 m'), TEN);
    return pair(
      () => taken([1, 2, 2], limited(theirs)),
      () => taken([1, 2, 2], spent(ours)),
    );
  },
  // What does not fit before the time is over is denied.
  '`blockUntilReady(id, ms)`': async () => {
    const { theirs, ours } = await onOne(Ratelimit.tokenBucket(1, '1 h', 1), {
      burst: 1,
      count: 1,
      period: '1h',
      maxWait: '20ms',
    });
    return pair(
      () => taken([1, 1], async () => (await theirs.blockUntilReady(ID, 20)).success),
      () => taken([1, 1], async () => (await ours.spend(entry(), { wait: true })).allowed),
    );
  },
  '`getRemaining(id)`': async () => {
    const { theirs, ours } = await onOne(Ratelimit.fixedWindow(10, '1 m'), TEN);
    return pair(
      async () => (await theirs.limit(ID), (await theirs.getRemaining(ID)).remaining),
      async () => (await ours.spend(entry()), (await ours.check(entry(0))).remaining),
    );
  },
  '`resetUsedTokens(id)`': async () => {
    const { theirs, ours } = await onOne(Ratelimit.tokenBucket(10, '1 m', 10), TEN);
    return pair(
      async () => (await limited(theirs)(9), await theirs.resetUsedTokens(ID), limited(theirs)(1)),
      async () => (await spent(ours)(9), await ours.reset([{ limit: 'Calls', id: ID }]), spent(ours)(1)),
    );
  },
  '`timeout`, after which all pass': async () => {
    const { client, limiter: shared } = await onSilence();
    const theirs = new Ratelimit({ redis: overTcp(client), limiter: Ratelimit.fixedWindow(1, '1 m'), timeout: 20 });
    const failure = { deadlineMs: 20, onFailure: 'open' } as const;
    const ours = createLimiter({
      limits: { Calls: { key: accountId(), ...TEN, count: 1 } },
      ...shared,
      failure,
    });
    return pair(
      () => taken([1, 1], async () => (await theirs.limit(ID)).success),
      () => taken([1, 1], async () => (await ours.spend(entry())).allowed),
    );
  },
  '`ephemeralCache`': 'the tests of @sluice/redis count its calls',
  '`enableProtection`, deny lists': 'its lists are sets in Redis that a service of Upstash fills',
};

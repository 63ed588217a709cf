import { accountId, createLimiter, memoryStore, type Decision, type Limiter, type LimiterOptions } from '@sluice/core';
import { dump, restore } from '@sluice/core/dump';
import { bucketKey } from '@sluice/core/store';
import {
  BurstyRateLimiter,
  RateLimiterMemory,
  RateLimiterQueue,
  RateLimiterRedis,
  RateLimiterRes,
  RateLimiterUnion,
  RLWrapperBlackAndWhite,
  RLWrapperTimeouts,
  type IRateLimiterOptions,
} from 'rate-limiter-flexible';
import { all, pair, type Pair, type Rows } from './pairs.ts';
import { onNothing, onRedis, onSilence } from './stores.ts';

const ID = '12345678';
/** Whether a call was allowed, and how much remains. */
type Taken = readonly [allowed: boolean, remaining: number];
/** Calls with these costs, one after the other. */
const taken = async (take: (cost: number) => Promise<Taken>, costs: readonly number[]): Promise<readonly Taken[]> => {
  const results: Taken[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (const cost of costs) results.push(await take(cost));
  return results;
};

interface Consumer {
  consume(key: string, points?: number): Promise<unknown>;
}
const consumed =
  (of: Consumer, key = ID) =>
  (cost: number): Promise<Taken> =>
    of.consume(key, cost).then(
      (result) => [true, (result as RateLimiterRes).remainingPoints],
      (result: unknown) => {
        if (!(result instanceof RateLimiterRes)) throw result;
        return [false, result.remainingPoints];
      },
    );
const spent =
  (limiter: Limiter, id = ID, limit = 'Calls') =>
  async (cost: number): Promise<Taken> => {
    const { allowed, remaining } = await limiter.spend([{ limit, id, cost }]);
    return [allowed, remaining];
  };

const there = (options: Partial<IRateLimiterOptions> = {}) =>
  new RateLimiterMemory({ points: 2, duration: 60, ...options });
const here = (limit: object = {}, options: Partial<LimiterOptions> = {}): Limiter =>
  createLimiter({
    limits: { Calls: { key: accountId(), count: 2, period: '60s', ...limit } },
    log: false,
    ...options,
  });
const check = (limiter: Limiter): Promise<Decision> => limiter.check([{ limit: 'Calls', id: ID, cost: 0 }]);
const entry = (cost: number) => [{ limit: 'Calls', id: ID, cost }] as const;

const both = (theirs: Consumer, ours: Limiter, costs: readonly number[], id = ID): Promise<Pair> =>
  pair(
    () => taken(consumed(theirs, id), costs),
    () => taken(spent(ours, id), costs),
  );
const inSeconds = (ms: number): number => Math.ceil(ms / 1000);

/** Both on the lists of the wrapper, for an id on them and another. */
const listed = (lists: object, ours: Partial<LimiterOptions>): Promise<Pair> => {
  const [theirs, limiter] = [new RLWrapperBlackAndWhite({ limiter: there(), ...lists }), here({}, ours)];
  const allowed = async (of: Promise<Pair>): Promise<Pair> =>
    (await of).map((results) => (results as Taken[]).map(([is]) => is)) as never;
  return all(allowed(both(theirs, limiter, [1, 1, 1])), allowed(both(theirs, limiter, [1, 1, 1], '2')));
};
/** Some calls of a second kind between calls that take. */
const mixed = (
  theirs: (of: RateLimiterMemory) => unknown,
  ours: (of: Limiter) => unknown,
  costs: readonly [number[], number[]],
): Promise<Pair> => {
  const [of, limiter] = [there({ points: 5 }), here({ count: 5 })];
  return pair(
    async () => [await taken(consumed(of), costs[0]), (await theirs(of), await taken(consumed(of), costs[1]))],
    async () => [await taken(spent(limiter), costs[0]), (await ours(limiter), await taken(spent(limiter), costs[1]))],
  );
};
/** What is said of a call after some calls. */
const said = (
  costs: number[],
  theirs: (result: RateLimiterRes) => unknown,
  ours: (decision: Decision) => unknown,
): Promise<Pair> => {
  const [of, limiter] = [there(), here()];
  const last = costs.at(-1)!;
  return pair(
    async () => (
      await taken(consumed(of), costs.slice(0, -1)),
      theirs(await of.consume(ID, last).catch((result: RateLimiterRes) => result))
    ),
    async () => (await taken(spent(limiter), costs.slice(0, -1)), ours(await limiter.spend(entry(last)))),
  );
};

export const options: Rows = {
  '`points`': () => both(there({ points: 3 }), here({ count: 3 }), [1, 1, 1, 1]),
  '`duration` in seconds': () =>
    pair(
      async () => inSeconds((await there({ points: 1, duration: 90 }).consume(ID)).msBeforeNext),
      async () => inSeconds((await here({ count: 1, period: '90s' }).spend(entry(1))).resetAfterMs),
    ),
  '`keyPrefix`': async () => {
    const { client, limiter: shared } = await onRedis();
    const limits = {
      Calls: { key: accountId(), count: 2, period: '60s' },
      Mails: { key: accountId(), count: 2, period: '60s' },
    };
    const limiter = createLimiter({ limits, ...shared });
    const [calls, mails] = ['Calls', 'Mails'].map(
      (keyPrefix) => new RateLimiterRedis({ storeClient: client, keyPrefix, points: 2, duration: 60 }),
    );
    return pair(
      async () => [await taken(consumed(calls!), [1, 1, 1]), await taken(consumed(mails!), [1])],
      async () => [await taken(spent(limiter), [1, 1, 1]), await taken(spent(limiter, ID, 'Mails'), [1])],
    );
  },
  '`inMemoryBlockOnConsumed`, `inMemoryBlockDuration`': 'the tests of @sluice/redis count its calls',
  '`execEvenly`, `execEvenlyMinDelayMs`, `maxQueueSize`': async () => {
    const evenly = there({ points: 3, duration: 1, execEvenly: true });
    const limiter = here({ burst: 1, count: 3, period: '1s', maxWait: '700ms' });
    const many = <Result>(call: () => Promise<Result>) => Promise.all(Array.from({ length: 4 }, call));
    return pair(
      async () => (await many(() => consumed(evenly)(1))).map(([allowed]) => allowed),
      async () => (await many(() => spent(limiter)(1))).map(([allowed]) => allowed),
    );
  },
  '`storeClient`, `storeType`': async () => {
    const { client, limiter: shared } = await onRedis();
    const theirs = () => new RateLimiterRedis({ storeClient: client, points: 2, duration: 60 });
    const [first, second] = [here({}, shared), here({}, shared)];
    return pair(
      async () => [await taken(consumed(theirs()), [1]), await taken(consumed(theirs()), [1, 1])],
      async () => [await taken(spent(first), [1]), await taken(spent(second), [1, 1])],
    );
  },
  '`insuranceLimiter`': async () => {
    const { client, limiter: shared } = await onNothing();
    const theirs = new RateLimiterRedis({ storeClient: client, points: 2, duration: 60, insuranceLimiter: there() });
    return both(theirs, here({}, { ...shared, failure: { onFailure: 'local' } }), [1, 1, 1]);
  },
  '`timeoutMs`': async () => {
    const { client, limiter: shared } = await onSilence();
    const silent = new RateLimiterRedis({ storeClient: client, points: 2, duration: 60 });
    const theirs = new RLWrapperTimeouts({ limiter: silent, timeoutMs: 20, insuranceLimiter: there() });
    return both(theirs, here({}, { ...shared, failure: { deadlineMs: 20 } }), [1, 1, 1]);
  },
  '`blackList`, `isBlackListed`': () =>
    all(
      listed({ blackList: [ID] }, { overrides: { Calls: { [ID]: 'blocked' } } }),
      listed(
        { isBlackListed: (key: string) => key === ID },
        { overrides: (_limit, id) => (id === ID ? 'blocked' : undefined) },
      ),
    ),
  '`whiteList`, `isWhiteListed`': () =>
    all(
      listed({ whiteList: [ID] }, { overrides: { Calls: { [ID]: 'unlimited' } } }),
      listed(
        { isWhiteListed: (key: string) => key === ID },
        { overrides: (_limit, id) => (id === ID ? 'unlimited' : undefined) },
      ),
    ),
};

export const calls: Rows = {
  '`consume(key, n)`': () => both(there({ points: 5 }), here({ count: 5 }), [2, 2, 1, 1]),
  '`penalty(key, n)`': () =>
    mixed(
      (of) => of.penalty(ID, 2),
      (limiter) => limiter.charge(entry(2)),
      [[1], [1, 1, 1]],
    ),
  '`reward(key, n)`': () =>
    mixed(
      (of) => of.reward(ID, 2),
      (limiter) => limiter.refund(entry(2)),
      [
        [1, 1, 1],
        [1, 1, 1, 1, 1],
      ],
    ),
  '`get(key)`': () => {
    const [of, limiter] = [there(), here()];
    return pair(
      async () => (await of.consume(ID), [(await of.get(ID))!.remainingPoints, (await of.get(ID))!.remainingPoints]),
      async () => (await limiter.spend(entry(1)), [(await check(limiter)).remaining, (await check(limiter)).remaining]),
    );
  },
  '`set(key, n, seconds)`': () =>
    mixed(
      (of) => of.set(ID, 4, 60),
      async (limiter) => (await limiter.reset([{ limit: 'Calls', id: ID }]), limiter.charge(entry(4))),
      [
        [1, 1],
        [1, 1],
      ],
    ),
  '`delete(key)`': () =>
    mixed(
      (of) => of.delete(ID),
      (limiter) => limiter.reset([{ limit: 'Calls', id: ID }]),
      [[3], [3, 2]],
    ),
  '`block(key, seconds)`': async () => {
    const of = there();
    const limiter = createLimiter({ limits: { Calls: { key: accountId(), count: 2, period: '60s' } } });
    const asked = () => limiter.spend([{ limit: 'Calls', id: ID }]);
    return pair(
      async () =>
        [
          await consumed(of)(1),
          await of.block(ID, 60),
          await of.consume(ID).catch((result: RateLimiterRes) => inSeconds(result.msBeforeNext)),
        ].filter((each) => !(each instanceof RateLimiterRes)),
      async () => {
        const before = await asked();
        const [block] = await limiter.block([{ limit: 'Calls', id: ID, forMs: 60_000, reason: 'abuse', by: 'mia' }]);
        const { blocked } = await asked();
        const seconds = blocked ? inSeconds(block!.untilMs - Date.now()) : 0;
        return [[before.allowed, before.results[0]!.remaining], seconds];
      },
    );
  },
  '`getKey(key)`': () =>
    pair(
      () => there({ keyPrefix: 'Calls' }).getKey(ID),
      () => bucketKey('Calls', ID),
    ),
  '`dump()`, `restore()`': async () => {
    const [old, store, next] = [there(), memoryStore(), memoryStore()];
    const ofNext = there();
    return pair(
      async () => (await old.consume(ID), ofNext.restore(old.dump()), await taken(consumed(ofNext), [1, 1])),
      async () => (
        await here({}, { store }).spend(entry(1)),
        restore(next, dump(store)),
        await taken(spent(here({}, { store: next })), [1, 1])
      ),
    );
  },
  // A window begins with its first request, and is over as a whole: after a denial a bucket has less to wait for.
  '`msBeforeNext`': () =>
    said(
      [1, 1],
      ({ msBeforeNext }) => inSeconds(msBeforeNext),
      ({ allowed, retryAfterMs, resetAfterMs }) => inSeconds(allowed ? resetAfterMs : retryAfterMs),
    ),
  '`remainingPoints`': () =>
    said(
      [1],
      ({ remainingPoints }) => remainingPoints,
      ({ remaining }) => remaining,
    ),
  '`consumedPoints`': () =>
    said(
      [1],
      ({ consumedPoints }) => consumedPoints,
      ({ results: [result] }) => result!.burst - result!.remaining,
    ),
  '`RateLimiterMemory`': () => both(there(), here({}, { store: memoryStore() }), [1, 1, 1]),
  '`RateLimiterRedis`': async () => {
    const { client, limiter: shared } = await onRedis();
    return both(new RateLimiterRedis({ storeClient: client, points: 2, duration: 60 }), here({}, shared), [1, 1, 1]);
  },
  '`RateLimiterUnion`': async () => {
    const limits = {
      Few: { key: accountId(), count: 1, period: '60s' },
      Calls: { key: accountId(), count: 5, period: '60s' },
    };
    const limiter = createLimiter({ limits });
    const union = new RateLimiterUnion(
      there({ keyPrefix: 'Few', points: 1 }),
      there({ keyPrefix: 'Calls', points: 5 }),
    );
    const asked = () =>
      limiter.spend([
        { limit: 'Few', id: ID },
        { limit: 'Calls', id: ID },
      ]);
    return pair(
      async () => [
        await union.consume(ID).then(() => true),
        await union.consume(ID).then(
          () => true,
          () => false,
        ),
      ],
      async () => [(await asked()).allowed, (await asked()).allowed],
    );
  },
  '`BurstyRateLimiter`': async () => {
    const bursty = new BurstyRateLimiter(there({ points: 2 }), there({ keyPrefix: 'burst', points: 3 }));
    const [results, ofOurs] = await both(bursty, here({ burst: 5, count: 2 }), [1, 1, 1, 1, 1, 1]);
    return [(results as Taken[]).map(([allowed]) => allowed), (ofOurs as Taken[]).map(([allowed]) => allowed)];
  },
  '`RLWrapperBlackAndWhite`': () =>
    all(
      listed({ blackList: [ID] }, { overrides: { Calls: { [ID]: 'blocked' } } }),
      listed({ whiteList: [ID] }, { overrides: { Calls: { [ID]: 'unlimited' } } }),
    ),
  '`RLWrapperTimeouts`': async () => {
    const { client, limiter: shared } = await onSilence();
    const limiter = new RateLimiterRedis({ storeClient: client, points: 2, duration: 60 });
    const closed = here({}, { ...shared, failure: { deadlineMs: 20, onFailure: 'closed' } });
    return pair(
      () =>
        new RLWrapperTimeouts({ limiter, timeoutMs: 20 }).consume(ID).then(
          () => true,
          () => false,
        ),
      async () => (await closed.spend(entry(1))).allowed,
    );
  },
  // All of them wait for their turn, and none is denied.
  '`RateLimiterQueue`': async () => {
    const queue = new RateLimiterQueue(there({ points: 2, duration: 1 }));
    const limiter = here({ count: 2, period: '1s', maxWait: '2s' });
    const order: [number[], number[]] = [[], []];
    const three = (call: (i: number) => Promise<unknown>, into: number[]) =>
      Promise.all([0, 1, 2].map(async (i) => (await call(i), into.push(i))));
    await Promise.all([
      three(() => queue.removeTokens(1, ID), order[0]),
      three(() => limiter.spend(entry(1), { wait: true }), order[1]),
    ]);
    return order;
  },
  '`RateLimiterCluster`': 'the tests of @sluice/host run processes',
  '`RateLimiterPostgres`': 'the contract of stores runs on PostgreSQL',
};

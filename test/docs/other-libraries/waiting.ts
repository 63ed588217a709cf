import { accountId, createLimiter, everyone, type Limiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { rateLimit as ours, type RateLimitOptions } from '@sluice/express';
import Bottleneck from 'bottleneck';
import express, { type Request, type RequestHandler } from 'express';
import { slowDown } from 'express-slow-down';
import { realDelay } from '../../real-delay.ts';
import { all, answers, body, over, pair, times, type Pair, type Rows, type Send } from './pairs.ts';
import { onRedis } from './stores.ts';

/** An application that answers how long a request was delayed. */
const app = (limit: RequestHandler, delayOf: (req: Request) => unknown): Send =>
  over(express().use(limit, (req, res) => void res.json(delayOf(req) ?? 0)));
const delayThere = (req: Request): unknown => (req as unknown as { slowDown: { delay?: number } }).slowDown.delay;
const delayHere = (req: Request): unknown => req.rateLimit!.delayMs;

/**
 * Six requests at once: five are not delayed, and the sixth waits, which is longer than their arrival takes.
 */
const delays = async (theirOptions: object = {}): Promise<Pair> => {
  const theirs = slowDown({ windowMs: 60_000, delayAfter: 5, delayMs: () => 500, validate: false, ...theirOptions });
  const limit = ours({ burst: 5, count: 1, period: '500ms', maxWait: '500ms' } as RateLimitOptions);
  const six = async (of: Send): Promise<readonly number[]> => {
    const delayed = await Promise.all(times(6).map(async (ask) => Number((await answers(of, [ask], body))[0])));
    return delayed.map((ms) => Math.ceil(ms / 500) * 500).toSorted((one, other) => one - other);
  };
  return Promise.all([six(app(theirs, delayThere)), six(app(limit, delayHere))]);
};

export const ofSlowDown: Rows = {
  '`delayAfter: 5`': () => delays(),
  // There a request that would be delayed for longer is delayed for so long.
  '`maxDelayMs`': () => delays({ delayMs: () => 900, maxDelayMs: 500 }),
  '`req.slowDown.delay`': () => delays(),
};

const ID = 'a';
const key = accountId();
const limiterOf = (limit: object): Limiter =>
  createLimiter({ limits: { Jobs: { key, ...limit } } as never, log: false });
const entry = [{ limit: 'Jobs', id: ID }] as const;
const spent = async (limiter: Limiter, costs: readonly number[]): Promise<readonly boolean[]> => {
  const decisions = await Promise.all(costs.map((cost) => limiter.spend([{ limit: 'Jobs', id: ID, cost }])));
  return decisions.map(({ allowed }) => allowed);
};

/** Runs jobs that last a moment, and returns the most that ran at the same time. */
async function mostAtOnce(jobs: number, run: (job: () => Promise<void>) => Promise<unknown>): Promise<number> {
  let [running, most] = [0, 0];
  const job = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await realDelay(50);
    running--;
  };
  await Promise.allSettled(Array.from({ length: jobs }, () => run(job)));
  return most;
}

/** The jobs that Bottleneck begins, and those that it drops. */
const begun = async (bottleneck: Bottleneck, weights: readonly number[]): Promise<readonly boolean[]> => {
  const jobs = weights.map((weight) =>
    bottleneck
      .schedule({ weight }, () => realDelay(50))
      .then(
        () => true,
        () => false,
      ),
  );
  return Promise.all(jobs);
};

export const ofBottleneck: Rows = {
  // There the others wait, and here they are denied.
  '`maxConcurrent`': () => {
    const bottleneck = new Bottleneck({ maxConcurrent: 2 });
    const limiter = limiterOf(concurrency({ key, concurrency: 2 }));
    return pair(
      () => mostAtOnce(5, (job) => bottleneck.schedule(job)),
      () => mostAtOnce(5, (job) => limiter.limit('Jobs').run(ID, job)),
    );
  },
  // Each waits until its turn.
  '`minTime: 200`': async () => {
    const bottleneck = new Bottleneck({ minTime: 200 });
    const limiter = limiterOf({ burst: 1, count: 5, period: '1s', maxWait: '10s' });
    const startMs = performance.now();
    const at = async (): Promise<number> => Math.round((performance.now() - startMs) / 200) * 200;
    return pair(
      () => Promise.all([1, 2, 3].map(() => bottleneck.schedule(at))),
      async () =>
        (await Promise.all([1, 2, 3].map(() => limiter.spend(entry)))).map(
          ({ delayMs }) => Math.round(delayMs / 200) * 200,
        ),
    );
  },
  '`reservoir`, `reservoirRefreshAmount`, `reservoirRefreshInterval`': () => {
    const bottleneck = new Bottleneck({ reservoir: 3, reservoirRefreshAmount: 3, reservoirRefreshInterval: 60_000 });
    return pair(
      async () => {
        const jobs = Promise.all([1, 1, 1].map(() => bottleneck.schedule(async () => true)));
        return [...(await jobs), await bottleneck.check(1)];
      },
      () => spent(limiterOf({ count: 3, period: '60s' }), [1, 1, 1, 1]),
    );
  },
  '`highWater`, `strategy`': () => {
    // One runs, two wait, and the others are dropped.
    const strategy = Bottleneck.strategy.OVERFLOW;
    const bottleneck = new Bottleneck({ maxConcurrent: 1, minTime: 100, highWater: 2, strategy });
    return pair(
      () => begun(bottleneck, [1, 1, 1, 1, 1]),
      () => spent(limiterOf({ burst: 1, count: 1, period: '100ms', maxWait: '200ms' }), [1, 1, 1, 1, 1]),
    );
  },
  '`weight` of a job': () => {
    const bottleneck = new Bottleneck({ reservoir: 5 });
    return pair(
      async () => [...(await begun(bottleneck, [2, 2])), await bottleneck.check(2), await bottleneck.check(1)],
      async () => {
        const limiter = limiterOf({ count: 5, period: '1h' });
        return [...(await spent(limiter, [2, 2])), ...(await spent(limiter, [2])), ...(await spent(limiter, [1]))];
      },
    );
  },
  '`Bottleneck.Group`': () => {
    const group = new Bottleneck.Group({ reservoir: 1 });
    const limiter = limiterOf({ count: 1, period: '1h' });
    const ask = async (id: string): Promise<boolean> => (await limiter.spend([{ limit: 'Jobs', id }])).allowed;
    return pair(
      async () => [await begun(group.key('a'), [1]), await group.key('a').check(), await group.key('b').check()].flat(),
      async () => [await ask('a'), await ask('a'), await ask('b')],
    );
  },
  "`datastore: 'ioredis'`": async () => {
    const { client, limiter: shared } = await onRedis();
    const connection = new Bottleneck.IORedisConnection({ client });
    const theirs = () => new Bottleneck({ id: 'jobs', datastore: 'ioredis', connection, reservoir: 1 });
    const limits = { Jobs: { key: everyone(), count: 1, period: '1h' } };
    const limiter = () => createLimiter({ limits, ...shared });
    const ask = async (of: ReturnType<typeof limiter>) => (await of.spend([{ limit: 'Jobs', id: 'everyone' }])).allowed;
    const [first, second] = [theirs(), theirs()];
    return all(
      pair(
        async () => [await begun(first, [1]), await second.check()].flat(),
        async () => [await ask(limiter()), await ask(limiter())],
      ),
    );
  },
};

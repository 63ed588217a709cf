import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { limitedProcessor } from '@sluice/outgoing';
import * as bullmq5 from 'bullmq5';
import * as bullmq6 from 'bullmq';
import { afterEach, describe, expect, test } from 'vitest';
import { redisServer } from '../../redis/servers/redis-server.ts';

interface Data {
  readonly customer: string;
}

const versions = [
  { name: 'BullMQ 5', bullmq: bullmq5 },
  { name: 'BullMQ 6', bullmq: bullmq6 as unknown as typeof bullmq5 },
];

describe.each(versions)('a job of $name', async ({ name, bullmq }) => {
  const server = await redisServer();
  const connection = { host: server.host, port: server.port, maxRetriesPerRequest: null };
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
    await server.empty();
  });

  function scene(process: (job: bullmq5.Job<Data>) => unknown) {
    const key = accountId();
    const limiter = createLimiter({
      limits: {
        PerCustomer: { key, burst: 1, count: 20, period: '1s', maxWait: '1m' },
        Running: concurrency({ key, concurrency: 1 }),
      },
      log: false,
    });
    const queue = new bullmq.Queue<Data>(name.replace(' ', ''), { connection });
    const runs = new Map<string, number>();
    const limited = limitedProcessor(
      limiter,
      ({ data }: bullmq5.Job<Data>) => [{ limit: 'PerCustomer', id: data.customer }],
      process,
    );
    const worker = new bullmq.Worker<Data>(
      queue.name,
      (job, token) => {
        runs.set(job.id!, (runs.get(job.id!) ?? 0) + 1);
        return limited(job, token);
      },
      { connection, concurrency: 50 },
    );
    worker.on('error', () => undefined);
    ends.push(
      () => worker.close(true),
      () => queue.close(),
      () => limiter.close(),
    );
    return { limiter, queue, worker, runs };
  }

  test('takes its turn when it is run first, and begins when it is run again', async () => {
    const begun: [customer: string, atMs: number][] = [];
    const { queue, runs } = scene(({ data }) => begun.push([data.customer, performance.now()]));
    await queue.addBulk(Array.from({ length: 24 }, (_, i) => ({ name: 'call', data: { customer: `${i % 2}` } })));
    await expect.poll(() => begun.length).toBe(24);
    expect(Math.max(...runs.values())).toBeLessThanOrEqual(2);
    expect(await queue.getFailedCount()).toBe(0);
    // 12 calls of each customer at 20 a second, and the two together.
    for (const customer of ['0', '1']) {
      const times = begun.filter(([of]) => of === customer).map(([, at]) => at);
      expect(times).toHaveLength(12);
      expect(times.at(-1)! - times[0]!).toBeGreaterThan(400);
    }
  });

  test('takes another turn for each attempt, and has the data that it was added with', async () => {
    const seen: unknown[] = [];
    const { queue, limiter } = scene(({ data, attemptsMade }) => {
      seen.push([attemptsMade, data]);
      if (attemptsMade === 0) throw new Error('once');
    });
    await limiter.charge([{ limit: 'PerCustomer', id: 'a', cost: 1 }]);
    await queue.add('call', { customer: 'a' }, { attempts: 2 });
    await expect.poll(() => queue.getCompletedCount()).toBe(1);
    expect(seen).toEqual([
      [0, { customer: 'a' }],
      [1, { customer: 'a' }],
    ]);
    expect(await queue.getFailedCount()).toBe(0);
  });
});

import { createLimiter, everyone } from '@sluice/core';
import { quota } from '@sluice/core/quota';
import { createScheduler, type SchedulerError } from '@sluice/core/scheduler';
import { limitedFetch } from '@sluice/outgoing';
import { afterEach, expect, test } from 'vitest';
import { PEERS, type PeerServer } from './peer-servers.ts';
import { VirtualTime } from './virtual-time.ts';

const key = everyone();
const WITHINS_MS = [500, 2000, 7000, 15_000] as const;
/** How long a request takes, and its answer. */
const WAY_MS = 50;

let time: VirtualTime;
let server: PeerServer;
afterEach(async () => {
  await server.close();
  time.end();
});

// A rate waits for most of it in the scheduler; what is learnt of a quota, this process alone knows.
const limits = {
  'a rate': { Api: { key, burst: 1000, count: 1000, period: '1s' } },
  'a quota': { Api: quota({ key, count: 100_000, per: 'month' }) },
} as const;

test.each(['a rate', 'a quota'] as const)('no call of %s begins after its `within`, or fails later', async (kind) => {
  time = new VirtualTime();
  server = await PEERS['express-rate-limit with draft-8']!.start({ count: 100, windowMs: 10_000 }, time.fake);
  const limiter = createLimiter({ limits: limits[kind], time: time.fake, log: false });
  const scheduler = createScheduler(limiter);
  const counts = { begun: 0, failed: 0 };
  const lateMs: number[] = [];
  const ask = async (withinMs: number): Promise<void> => {
    const endMs = time.fake.nowMs + withinMs;
    let hasBegun = false;
    const fetch = async (): Promise<Response> => {
      hasBegun = true;
      if (time.fake.nowMs > endMs) lateMs.push(time.fake.nowMs - endMs);
      await time.delay(WAY_MS);
      const { status, headers } = await time.ask(server.port);
      return new Response(null, { status, headers: headers as Record<string, string> });
    };
    const limited = limitedFetch({ scheduler, fetch, within: `${withinMs}ms` });
    const error = await limited('https://api.example.com').then(
      () => undefined,
      (reason: unknown) => reason as SchedulerError,
    );
    if (error?.reason !== (hasBegun ? undefined : 'within')) throw error;
    counts[hasBegun ? 'begun' : 'failed']++;
    if (!hasBegun && time.fake.nowMs > endMs + 1) lateMs.push(time.fake.nowMs - endMs);
  };
  const asked: Promise<void>[] = [];
  for (let i = 0; i < 100; i++) {
    for (const withinMs of WITHINS_MS) asked.push(ask(withinMs));
    // oxlint-disable-next-line no-await-in-loop -- as time passes
    await time.pass(200);
  }
  await time.pass(20_000);
  await Promise.all(asked);
  expect(lateMs).toEqual([]);
  expect(Math.min(counts.begun, counts.failed)).toBeGreaterThan(40);
});

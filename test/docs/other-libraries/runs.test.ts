import { describe, expect, it } from 'vitest';
// oxlint-disable-next-line import/no-unassigned-import -- ends the servers of each test
import '../../redis/servers/teardown.ts';
import * as expressRateLimit from './express-rate-limit.ts';
import * as fastifyRateLimit from './fastify-rate-limit.ts';
import * as honoRateLimiter from './hono-rate-limiter.ts';
import * as koaRatelimit from './koa-ratelimit.ts';
import type { Pair, Rows } from './pairs.ts';
import * as rateLimiterFlexible from './rate-limiter-flexible.ts';
import * as throttler from './throttler.ts';
import * as upstash from './upstash.ts';
import { ofBottleneck, ofSlowDown } from './waiting.ts';
import { rowsOf } from '../page-tables.ts';

const PAGE = 'coming-from-other-libraries.md';
const LIBRARIES: Readonly<Record<string, Rows>> = {
  'express-rate-limit': { ...expressRateLimit.options, ...expressRateLimit.calls },
  '@fastify/rate-limit': { ...fastifyRateLimit.options, ...fastifyRateLimit.calls },
  'koa-ratelimit': koaRatelimit.options,
  'rate-limiter-flexible': { ...rateLimiterFlexible.options, ...rateLimiterFlexible.calls },
  'hono-rate-limiter': honoRateLimiter.options,
  'express-slow-down': ofSlowDown,
  bottleneck: ofBottleneck,
  '@upstash/ratelimit': upstash.calls,
  '@nestjs/throttler': throttler.calls,
};

describe.each(Object.entries(LIBRARIES))('%s', (library, runs) => {
  const cells = rowsOf(PAGE, library).map((row) => Object.values(row) as [there: string, here: string]);
  const counterparts = cells.filter(([, here]) => !here.startsWith('none')).map(([there]) => there);

  it('has a run of each row of the page with a counterpart', () => {
    expect(Object.keys(runs).toSorted()).toEqual(counterparts.toSorted());
  });

  const run = Object.entries(runs).filter((each): each is [string, () => Promise<Pair>] => typeof each[1] !== 'string');

  it.each(run)('%s', async (_there, both) => {
    const [there, here] = await both();
    expect(here).toEqual(there);
  });
});

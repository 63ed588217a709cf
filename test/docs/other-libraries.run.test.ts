import { describe, expect, it } from 'vitest';
import '../redis/servers/teardown.ts';
import * as expressRateLimit from './other-libraries/express-rate-limit.ts';
import * as fastifyRateLimit from './other-libraries/fastify-rate-limit.ts';
import * as honoRateLimiter from './other-libraries/hono-rate-limiter.ts';
import * as koaRatelimit from './other-libraries/koa-ratelimit.ts';
import * as rateLimiterFlexible from './other-libraries/rate-limiter-flexible.ts';
import * as throttler from './other-libraries/throttler.ts';
import * as upstash from './other-libraries/upstash.ts';
import { ofBottleneck, ofSlowDown } from './other-libraries/waiting.ts';
import { rowsOf } from './page-tables.ts';

const PAGE = 'coming-from-other-libraries.md';
const LIBRARIES = {
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

  it.each(Object.entries(runs))('%s', async (_there, run) => {
    if (typeof run === 'string') return;
    const [there, here] = await run();
    expect(here).toEqual(there);
  });
});

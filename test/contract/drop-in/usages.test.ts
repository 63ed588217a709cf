import { afterEach, describe, expect, test } from 'vitest';
import { running } from '../../redis/servers/running.ts';
import { BETTER_AUTH_USAGES } from './usages/better-auth.ts';
import { expressUsages } from './usages/express-rate-limit.ts';
import { fastifyUsages } from './usages/fastify-rate-limit.ts';
import { honoUsages } from './usages/hono-rate-limiter.ts';
import { EXPRESS_RATE_LIMITS } from './usages/peers.ts';
import { timesOf, withoutTimes, type Usage } from './usages/usage.ts';

afterEach(() => running.closeAllBut());

const LIMITERS: readonly (readonly [limiter: string, usages: readonly Usage[]])[] = [
  ...EXPRESS_RATE_LIMITS.map((name) => [name, expressUsages(name)] as const),
  ['@fastify/rate-limit', fastifyUsages()],
  ['hono-rate-limiter', honoUsages()],
  ['better-auth', BETTER_AUTH_USAGES],
];

/** The statuses of denied requests, one of which a usage asks for. */
const DENIED = [429, 418];

describe.each(LIMITERS)('with our store, but for its times, %s answers as with its own', (_limiter, usages) => {
  test.each(usages)('$name', async ({ answers }) => {
    const [own, ours] = [await answers(false), await answers(true)];
    expect(ours.map(withoutTimes)).toEqual(own.map(withoutTimes));
    // In each usage something is denied.
    expect(own.map(({ status }) => status)).toSatisfy((all: number[]) => all.some((one) => DENIED.includes(one)));
  });
});

// A bucket is full, and has a token again, before the window of the first request ends.
test.each(LIMITERS)(
  'behind %s, the times that a client is told are earlier than those of its own store',
  async (_limiter, [usage]) => {
    const [own, ours] = [await usage!.answers(false), await usage!.answers(true)].map((all) => all.map(timesOf));
    const pairs = ours!.flatMap((times, i) => times.map((time, j) => [time, own![i]![j]!] as const));
    expect(pairs.length).toBeGreaterThan(0);
    expect(pairs.filter(([time, theirs]) => time > theirs)).toEqual([]);
    // The oldest versions send the window as Retry-After, whatever the store says.
    expect(pairs.some(([time, theirs]) => time < theirs)).toBe(true);
  },
);

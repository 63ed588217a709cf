// The stores of this package as their limiters call them, for more requests than a server takes in a test.
import { rateLimitStorage } from '@sluice/drop-in/better-auth';
import { rateLimitStore as expressStore } from '@sluice/drop-in/express-rate-limit';
import { rateLimitStore as fastifyStore } from '@sluice/drop-in/fastify-rate-limit';
import type { Store } from '@sluice/core';

interface CounterOptions {
  readonly store: Store;
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  /** A decision that the store does not make is an error. */
  readonly failure: { readonly onFailure: 'closed'; readonly deadlineMs: number };
}

/** Counts a request of a client, and tells whether it passes. */
export type Count = (key: string) => Promise<boolean>;

function byExpress({ limit, windowMs, ...options }: CounterOptions): Count {
  const store = expressStore({ ...options, log: false });
  store.init({ limit, windowMs, skipFailedRequests: false, skipSuccessfulRequests: false });
  return async (key) => (await store.increment(key)).totalHits <= limit;
}

function byFastify({ limit, windowMs, ...options }: CounterOptions): Count {
  const store = new (fastifyStore({ ...options, log: false }))({});
  return (key) =>
    new Promise((resolve, reject) => {
      store.incr(
        key,
        (error, state) => (error === null ? resolve(state!.current <= limit) : reject(error)),
        windowMs,
        limit,
      );
    });
}

function byBetterAuth({ limit, windowMs, ...options }: CounterOptions): Count {
  const storage = rateLimitStorage({ ...options, log: false });
  return async (key) => (await storage.consume(key, { window: windowMs / 1000, max: limit })).allowed;
}

/** hono-rate-limiter and the MCP SDK have the store of the first one. */
export const COUNTERS: readonly (readonly [name: string, counter: (options: CounterOptions) => Count])[] = [
  ['express-rate-limit', byExpress],
  ['@fastify/rate-limit', byFastify],
  ['better-auth', byBetterAuth],
];

/** Counts one request of each of so many clients, many at a time, all of which pass. */
export async function flood(count: Count, keys: number): Promise<void> {
  for (let from = 0; from < keys; from += 1000) {
    const some = Array.from({ length: Math.min(1000, keys - from) }, (_, i) => count(`flood-${from + i}`));
    // oxlint-disable-next-line no-await-in-loop -- a thousand at a time
    const passed = await Promise.all(some);
    if (passed.includes(false)) throw new Error('A client of the flood was denied.');
  }
}

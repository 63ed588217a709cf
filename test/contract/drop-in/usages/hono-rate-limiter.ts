// The examples of the documentation of hono-rate-limiter, with smaller numbers.
import type { RateLimitStore, RateLimitStoreOptions } from '@sluice/drop-in/express-rate-limit';
import { Hono } from 'hono';
import type { HonoConfigType, Store } from 'hono-rate-limiter';
import { EXPRESS_IN_MEMORY } from './express-rate-limit.ts';
import { peer } from './peers.ts';
import { answerOfResponse, inTurn, type Usage } from './usage.ts';

type Library = typeof import('hono-rate-limiter');

/** The two stores that are compared, new ones for each limiter. */
export interface HonoStores {
  /** `undefined` for the memory store of the library. */
  readonly own: () => Store | undefined;
  readonly ours: (options?: RateLimitStoreOptions) => RateLimitStore;
}

interface Used {
  readonly name: string;
  readonly options: Partial<HonoConfigType>;
  readonly ours?: RateLimitStoreOptions;
  readonly paths: readonly string[];
}

interface Variables {
  readonly rateLimit: { readonly remaining: number };
  readonly rateLimitStore: { readonly resetKey: (key: string) => Promise<void> };
}

const QUARTER = { windowMs: 15 * 60 * 1000, limit: 3, keyGenerator: () => 'k' };
const FIVE = ['/200', '/200', '/200', '/200', '/200'];
const FAILED = ['/500', '/500', '/500', '/500'];

const USED: readonly Used[] = [
  { name: 'a limit for all requests', options: { standardHeaders: 'draft-6' }, paths: FIVE },
  { name: 'fields of draft 7', options: { standardHeaders: 'draft-7' }, paths: FIVE },
  {
    name: 'a limit that is a function of the request, which the store is told by the key',
    options: { limit: () => Promise.resolve(2) },
    ours: { limit: 2 },
    paths: FIVE,
  },
  { name: 'an answer of its own', options: { message: { error: 'too many' }, statusCode: 418 }, paths: FIVE },
  { name: 'a handler of its own', options: { handler: (c) => c.text('no', 429) }, paths: FIVE },
  { name: 'requests to skip', options: { skip: (c) => c.req.path === '/201' }, paths: [...FIVE, '/201'] },
  { name: 'the state and the store in the context, to reset a key', options: {}, paths: ['/200', '/reset', ...FIVE] },
  { name: 'skipFailedRequests', options: { skipFailedRequests: true }, paths: [...FAILED, ...FIVE] },
  { name: 'skipSuccessfulRequests', options: { skipSuccessfulRequests: true }, paths: [...FIVE, ...FAILED, '/200'] },
];

export function honoUsages(
  stores: HonoStores = { own: () => undefined, ours: EXPRESS_IN_MEMORY.ours },
): readonly Usage[] {
  return USED.map(({ name, options, ours, paths }) => ({
    name,
    async answers(isOurs) {
      const { rateLimiter } = (await peer('hono-rate-limiter')) as Library;
      const app = new Hono();
      const store = isOurs ? stores.ours(ours) : stores.own();
      app.use(rateLimiter({ ...QUARTER, ...options, ...(store && { store }) }));
      app.get('/reset', async (c) => {
        // The limiter has set these, of which Hono's types know nothing.
        const { rateLimit, rateLimitStore } = c.var as unknown as Variables;
        await rateLimitStore.resetKey('k');
        return c.json(rateLimit.remaining);
      });
      app.get('/:status', (c) => c.text('hello', Number(c.req.param('status')) as 200));
      return inTurn(paths.map((path) => async () => answerOfResponse(await app.request(path))));
    },
  }));
}

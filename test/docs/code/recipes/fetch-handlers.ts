import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { limitFetch } from '@sluice/fetch';

/** The account of each API key. A key that a client invents has none, and must not get a bucket of its own. */
const accounts = new Map([['key-of-acme', 'acme']]);
const accountOf = (request: Request): string | null => accounts.get(request.headers.get('X-API-Key') ?? '') ?? null;

const limiter = createLimiter({
  limits: {
    CallsPerClient: { key: clientNetwork(), count: 100, period: '1m' },
    CallsPerAccount: { key: accountId(accountOf), count: 1000, period: '1m' },
  },
});

/** On Vercel. `address` of other platforms: see the README of `@sluice/fetch`. */
const address = (request: Request): string | null => request.headers.get('x-real-ip');

const limit = limitFetch({ limiter, limits: ['CallsPerClient', 'CallsPerAccount'], address });

/** Next.js, `app/orders/route.ts`. */
export const POST = limit(async (request: Request) => Response.json(await request.json(), { status: 201 }));

/** A tRPC client sends several calls in one request: `/api/trpc/orders.list,users.me?batch=1`. Each costs a token. */
export const limitTrpc = limitFetch({
  limiter,
  limits: [
    { limit: 'CallsPerClient', cost: callsOf },
    { limit: 'CallsPerAccount', cost: callsOf },
  ],
  address,
});

function callsOf(request: Request): number {
  return Math.min(decodeURIComponent(new URL(request.url).pathname).split(',').length, 100);
}

import { accountId, clientNetwork, createLimiter } from '@sluice/core';
import { limitFetch } from '@sluice/fetch';

const limiter = createLimiter({
  limits: {
    CallsPerClient: { key: clientNetwork(), count: 100, period: '1m' },
    CallsPerKey: { key: accountId((request: Request) => request.headers.get('X-API-Key')), count: 1000, period: '1m' },
  },
});

/** On Vercel. `address` of other platforms: see the README of `@sluice/fetch`. */
const address = (request: Request): string | null => request.headers.get('x-real-ip');

const limit = limitFetch({ limiter, limits: ['CallsPerClient', 'CallsPerKey'], address });

/** Next.js, `app/orders/route.ts`. */
export const POST = limit(async (request: Request) => Response.json(await request.json(), { status: 201 }));

/** A tRPC client sends several calls in one request: `/api/trpc/orders.list,users.me?batch=1`. Each costs a token. */
export const limitTrpc = limitFetch({
  limiter,
  limits: [
    { limit: 'CallsPerClient', cost: callsOf },
    { limit: 'CallsPerKey', cost: callsOf },
  ],
  address,
});

function callsOf(request: Request): number {
  return Math.min(decodeURIComponent(new URL(request.url).pathname).split(',').length, 100);
}

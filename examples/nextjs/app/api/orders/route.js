import { decisionOf } from '@sluice/fetch';
import { limitOrders } from '../../../lib/limits.js';

/** An order costs a token of its API key. */
export const POST = limitOrders(async (request) => {
  const order = await request.json();
  return Response.json({ order, left: decisionOf(request)?.remaining }, { status: 201 });
});

// Looking at orders is limited by the proxy alone.
export const GET = () => Response.json({ orders: [] });

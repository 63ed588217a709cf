import { decisionOf } from '@sluice/fetch';
import { limitOrders } from '../../../lib/limits.js';

/** A second route with the same limiter: a bundle of its own. */
export const GET = limitOrders((request) => {
  const { remaining, failure } = decisionOf(request);
  return Response.json({ left: remaining, policy: failure?.policy ?? null });
});

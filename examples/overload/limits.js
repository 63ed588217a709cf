/** @import { Request } from 'express' */
import { accountId, clientNetwork, createLimiter, everyone } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { load, eventLoop, loadFrom } from '@sluice/core/load';

/** @type {Record<string, number>} */
const shares = { '/checkout': 1, '/items': 0.8, '/report': 0.5 };

/** How important a request is: a checkout is critical, items are ordinary, and reports can wait. */
export const shareOf = (/** @type {Request} */ req) => shares[req.path] ?? 0.8;

/** Health checks and operators are never denied. */
export const isExempt = (/** @type {Request} */ req) => req.path === '/health' || req.path === '/switches';

/** The API keys of all clients, which a real service looks up. */
const keys = new Set(Array.from({ length: 1000 }, (_, i) => `client-${i}`));

/** The key of a client; null if it is none of these, or not sent: the request then counts for its address. */
function keyOf(/** @type {Request} */ req) {
  const key = req.get('x-api-key') ?? '';
  return keys.has(key) ? key : null;
}

/** Whether a request has a key that a client has invented. */
export const hasUnknownKey = (/** @type {Request} */ req) => req.get('x-api-key') !== undefined && keyOf(req) === null;
const client = () => accountId(keyOf).or(clientNetwork());

/** What operators change while the server runs. */
export const switches = {
  /** The kill switch: nothing is shed while it is off. */
  isShedding: process.env.SHEDDING !== 'off',
  /** With PRETEND=1, the utilization of the event loop is pretended. */
  pretended: 0,
};
const enabled = () => switches.isShedding;
export const worker =
  process.env.PRETEND === '1' ? loadFrom(() => switches.pretended, { enabled }) : eventLoop({ enabled });

export const limiter = createLimiter({
  limits: {
    // What this process can still do. It asks no store, and is decided before the others.
    Worker: load({ key: client(), load: worker }),
    // A client may have ten requests in progress.
    InFlight: concurrency({ key: client(), concurrency: 10 }),
    // All clients together. Reports may fill a half, items 80 %, and the rest is left for checkouts.
    Fleet: concurrency({ key: everyone(), concurrency: 400 }),
  },
});

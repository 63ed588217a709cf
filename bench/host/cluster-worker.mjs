// A worker of a cluster that asks its primary process by rate-limiter-flexible: `node cluster-worker.mjs <turn as JSON>`,
// started by flexible-cluster.mjs. It measures a turn whenever it is asked for one.
import { RateLimiterCluster } from 'rate-limiter-flexible';
import { VisitOrder } from '../ids.mjs';
import { decideEach, measuredTurn } from '../redis/in-flight.mjs';

const { ids, warmUp, decisions, inFlight } = JSON.parse(process.argv[2] ?? '{}');
const limiter = new RateLimiterCluster({ keyPrefix: 'First', points: 1_000_000, duration: 3600, timeoutMs: 5000 });
const decide = (/** @type {string} */ id) => limiter.consume(id);
const order = new VisitOrder(ids);
await decideEach(decide, order.next(warmUp), inFlight);
process.on('message', async (asked) => {
  if (asked === 'measure') process.send?.({ figures: await measuredTurn(decide, order, { decisions, inFlight }) });
});
process.send?.('ready');

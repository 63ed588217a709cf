// Keeps calls waiting in a scheduler for some seconds, and reports how many began. It waits for a message before it begins.
import { createLimiter, everyone } from '@sluice/core';
import { createScheduler } from '@sluice/core/scheduler';
import { redisStore } from '@sluice/redis';

/**
 * @typedef {object} ScheduledOrders
 * @property {string} url
 * @property {number} count a second
 * @property {string} ahead
 * @property {number} waiting how many calls wait always
 * @property {number} lastsMs
 */

/** @type {ScheduledOrders} */
const { url, count, ahead, waiting, lastsMs } = JSON.parse(process.argv[2] ?? '');
const store = redisStore({ url, log: false });
const failure = { deadlineMs: 10_000, onFailure: /** @type {const} */ ('closed') };
const limiter = createLimiter({
  store,
  failure,
  log: false,
  limits: { Api: { key: everyone(), burst: 1, count, period: '1s' } },
});
const scheduler = createScheduler(limiter, { ahead, maxWaiting: 100_000 });
await limiter.ready();
process.send?.('ready');
await new Promise((resolve) => process.once('message', resolve));

const entries = [{ limit: /** @type {const} */ ('Api'), id: 'everyone' }];
/** @type {number[]} */
const starts = [];
let isOver = false;
const endMs = Date.now() + lastsMs;
async function caller() {
  while (!isOver) {
    // oxlint-disable-next-line no-await-in-loop -- one call after the other
    await scheduler.run(entries, () => starts.push(Date.now()), { within: '1h' }).catch(() => (isOver = true));
    if (Date.now() >= endMs) isOver = true;
  }
}
const callers = Array.from({ length: waiting }, caller);
setTimeout(() => void scheduler.close(), lastsMs);
await Promise.all(callers);
process.send?.({ starts });
await limiter.close({ store: true });
process.disconnect?.();

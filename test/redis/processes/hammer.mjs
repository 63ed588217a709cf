// Hammers one bucket when told to, for as long as told, and says what it was allowed.
import { accountId, createLimiter } from '@sluice/core';
import { redisStore } from '@sluice/redis';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What it is told, as its only argument.
 *
 * @typedef {{ url: string, burst: number, count: number, period: string, lastsMs: number, inFlight: number,
 *   rememberDenialsMs: number }} HammerOrders
 */

/**
 * What it has seen; moments by the wall clock of the machine.
 *
 * @typedef {{ decisions: number, allowed: number, byPolicy: number, firstSentMs: number, firstAnsweredMs: number,
 *   lastSentMs: number, lastAnsweredMs: number }} Hammered
 */

/** @type {HammerOrders} */
const orders = JSON.parse(process.argv[2] ?? '');
const { url, burst, count, period, lastsMs, inFlight, rememberDenialsMs } = orders;

const store = redisStore({ url, rememberDenialsMs });
const limiter = createLimiter({
  limits: { Hammered: { key: accountId(), burst, count, period } },
  store,
  // On a busy machine a process may have to wait for its turn; who is admitted is not a matter of that.
  failure: { deadlineMs: 10_000 },
});

/** @type {Hammered} */
const seen = {
  decisions: 0,
  allowed: 0,
  byPolicy: 0,
  firstSentMs: Infinity,
  firstAnsweredMs: Infinity,
  lastSentMs: 0,
  lastAnsweredMs: 0,
};

/** @param {number} untilMs */
async function hammer(untilMs) {
  while (performance.now() < untilMs) {
    seen.firstSentMs = Math.min(seen.firstSentMs, Date.now());
    seen.lastSentMs = Math.max(seen.lastSentMs, Date.now());
    // oxlint-disable-next-line no-await-in-loop -- the next when this one is decided
    const { allowed, failure } = await limiter.spend([{ limit: 'Hammered', id: 'one' }]);
    seen.firstAnsweredMs = Math.min(seen.firstAnsweredMs, Date.now());
    seen.lastAnsweredMs = Math.max(seen.lastAnsweredMs, Date.now());
    seen.decisions += 1;
    if (allowed) seen.allowed += 1;
    if (failure !== undefined) seen.byPolicy += 1;
    // What is refused from memory is refused at once: the others want to run too.
    // oxlint-disable-next-line no-await-in-loop
    await sleep(1);
  }
}

process.once('message', () => {
  const untilMs = performance.now() + lastsMs;
  void Promise.all(Array.from({ length: inFlight }, () => hammer(untilMs))).then(async () => {
    await limiter.close();
    await store.close();
    process.send?.(seen, () => process.disconnect());
  });
});

// oxlint-disable-next-line no-await-in-loop
while (store.status().state !== 'up') await sleep(5);
process.send?.('ready');

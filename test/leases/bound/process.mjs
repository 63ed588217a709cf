// One process of `npm run trial -- leases-bound`: it makes its own requests, and records when each one of them passed.
import { accountId, createLimiter } from '@sluice/core';
import { leasedStore } from '@sluice/redis';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What it is started with, as its only argument.
 *
 * @typedef {{ url: string, index: number, gateways: number, limit: BoundLimit }} BoundOrders
 * @typedef {{ burst: number, count: number, period: string, overshoot: number }} BoundLimit
 */

/**
 * A load on the bucket of an id. All requests come to one process, and every while to the next one.
 *
 * @typedef {{ id: string, perSecond: number, moveMs: number, startMs: number, lastsMs: number }} BoundLoad
 */

/**
 * What came of a load: between which two moments each request that passed was decided, by the clock that all processes of a
 * machine have in common, and how many were left to Redis.
 *
 * @typedef {{ passed: { fromMs: number, toMs: number }[], asked: number, waits: number, exact: number, unavailable: number }} BoundReport
 */

const EVERY_MS = 2;

/** @type {BoundOrders} */
const { url, index, gateways, limit } = JSON.parse(process.argv[2] ?? '');
const store = leasedStore({ url, gateways, log: false });
const limiter = createLimiter({
  limits: { Leased: { key: accountId(), ...limit, onFailure: 'closed' } },
  store,
  failure: { gateways, deadlineMs: 1000 },
  log: false,
});

function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * When the request was decided that is being made: undefined while it is not, or if Redis decides it at some moment that this
 * process does not know.
 *
 * @type {{ atMs: number | undefined } | undefined}
 */
let current;

/** @param {{ readonly remembered?: boolean }} reading */
function isOwn({ remembered }) {
  return remembered === true;
}

// The reading of a decision of this process is made in the moment of the decision.
const decide = store.run.bind(store);
store.run = (operation, deadlineMs) => {
  const made = current;
  current = undefined;
  const answer = decide(operation, deadlineMs);
  if (made === undefined) return answer;
  if (!(answer instanceof Promise)) {
    made.atMs = nowMs();
    return answer;
  }
  return answer.then((reading) => {
    if (isOwn(reading)) made.atMs = nowMs();
    return reading;
  });
};

/**
 * @param {string} id
 * @param {BoundReport} report
 */
async function request(id, report) {
  report.asked += 1;
  const fromMs = nowMs();
  /** @type {{ atMs: number | undefined }} */
  const made = { atMs: undefined };
  current = made;
  const { allowed, outcome } = await limiter.spend([{ limit: 'Leased', id }]);
  if (allowed) report.passed.push({ fromMs: made.atMs ?? fromMs, toMs: made.atMs ?? nowMs() });
  else if (outcome === 'unavailable') report.unavailable += 1;
}

/** How many requests have waited, and how many operations were left to Redis. */
function counts() {
  const { leases, counts: shared } = store.status();
  return { waits: leases.waits, exact: shared.batches };
}

/**
 * @param {BoundLoad} load
 * @returns {Promise<BoundReport>}
 */
async function run({ id, perSecond, moveMs, startMs, lastsMs }) {
  /** @type {BoundReport} */
  const report = { passed: [], asked: 0, waits: 0, exact: 0, unavailable: 0 };
  const before = counts();
  /** @type {Promise<void>[]} */
  const pending = [];
  let [lastMs, due] = [startMs, 0];
  while (lastMs < startMs + lastsMs) {
    const ms = nowMs();
    const isMine = Math.floor((ms - startMs) / moveMs) % gateways === index;
    if (isMine && ms > startMs) due += ((ms - lastMs) / 1000) * perSecond;
    lastMs = ms;
    for (; due >= 1; due--) pending.push(request(id, report));
    // oxlint-disable-next-line no-await-in-loop -- as requests come
    await sleep(EVERY_MS);
  }
  await Promise.all(pending);
  const after = counts();
  return { ...report, waits: after.waits - before.waits, exact: after.exact - before.exact };
}

process.on('message', async (/** @type {BoundLoad} */ load) => process.send?.(await run(load)));
process.on('disconnect', () => process.exit());
await limiter.ready({ timeoutMs: 30_000 });
process.send?.(limiter.describe('Leased').lease);

// Keeps calls waiting for each server, as docs/limits/outgoing.md lets a program make them. It waits for a message before it
// begins, and another one ends it.
import { createLimiter, everyone } from '@sluice/core';
import { createScheduler, SchedulerError } from '@sluice/core/scheduler';
import { limitedFetch } from '@sluice/outgoing';
import { redisStore } from '@sluice/redis';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * @typedef {object} WorkerOrders
 * @property {number} number of this process
 * @property {string} redis
 * @property {readonly { target: string, prefix: string, limit: { burst: number, count: number, period: string } }[]} calls
 * @property {number} waiting how many calls wait always
 * @property {number} wayMs how long a request takes, and its answer
 */

/**
 * @typedef {object} WorkerReport
 * @property {number[]} unavailable how many decisions the store has not made in time, by server
 * @property {number[]} firstMs when the first call began, by server, in milliseconds since 1970
 * @property {number[][]} late the numbers of the calls that took longer than they should, because the machine was busy, by server
 * @property {string[]} failures
 */

/** @type {WorkerOrders} */
const { number, redis, calls, waiting, wayMs } = JSON.parse(process.argv[2] ?? '');
/** @type {WorkerReport} */
const report = {
  unavailable: calls.map(() => 0),
  firstMs: calls.map(() => 0),
  late: calls.map(() => []),
  failures: [],
};
/** What is not due to the limits. */
const LATE_MS = 100;
const state = { isOver: false };

const callers = calls.map(({ target, prefix, limit }, i) => {
  const limiter = createLimiter({
    store: redisStore({ url: redis, prefix, log: false }),
    // On a busy machine the store answers late, and calls must wait for it.
    failure: { deadlineMs: 10_000, onFailure: 'closed' },
    log: false,
    limits: { Api: { key: everyone(), ...limit } },
    onDecision: ({ failure }) =>
      void (report.unavailable[i] = (report.unavailable[i] ?? 0) + (failure === undefined ? 0 : 1)),
  });
  const scheduler = createScheduler(limiter);
  let count = 0;
  /** @type {typeof fetch} */
  const farFetch = async (input) => {
    const call = count++;
    const beganMs = Date.now();
    report.firstMs[i] ||= beganMs;
    await delay(wayMs);
    const answer = await fetch(input, { headers: { 'x-process': String(number), 'x-call': String(call) } });
    await delay(wayMs);
    if (Date.now() - beganMs > 2 * wayMs + LATE_MS) report.late[i]?.push(call);
    return answer;
  };
  const limited = limitedFetch({ scheduler, within: '10m', fetch: farFetch });
  const call = async () => void (await (await limited(target)).text());
  return { call, scheduler, limiter };
});

/** @param {() => Promise<void>} call */
async function attempt(call) {
  await call().catch((error) => {
    // A server may close a connection that was idle just when a request is sent.
    if (error instanceof SchedulerError && !state.isOver) report.failures.push(String(error));
  });
}

/** @param {() => Promise<void>} call */
async function forever(call) {
  // oxlint-disable-next-line no-await-in-loop -- one call after the other
  while (!state.isOver) await attempt(call);
}

await Promise.all(callers.map(({ limiter }) => limiter.ready()));
process.send?.('ready');
await once(process, 'message');
const begun = callers.map(async ({ call }) => {
  // At first, nothing is known.
  await attempt(call);
  await Promise.all(Array.from({ length: waiting }, () => forever(call)));
});
await once(process, 'message');
state.isOver = true;
await Promise.all(callers.map(({ scheduler }) => scheduler.close()));
await Promise.all(begun);
process.send?.(report);
await once(process, 'message');
await Promise.all(callers.map(({ limiter }) => limiter.close({ store: true })));
process.disconnect?.();

// Holds slots of concurrency limits as it is told, message by message, and reports when it held which.
import { accountId, createLimiter } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { redisStore } from '@sluice/redis';
import { Cluster, Redis } from 'ioredis';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What it gets as its only argument.
 *
 * @typedef {object} HoldOrders
 * @property {{ url: string } | { nodes: Address[] } | { sentinels: Address[], name: string }} server
 * @property {{ concurrency: number, expiry: string }} limit
 * @property {string[]} ids
 * @property {number} gateways
 * @property {number} deadlineMs
 * @property {number} workers How many requests are made at the same time under load.
 * @property {number} [perSecond] How many requests are started in a second; without it each worker makes one after the
 *   other.
 * @property {[least: number, most: number]} holdMs How long a slot is held under load.
 */

/** @typedef {{ host: string, port: number }} Address */

/**
 * A message to it: hold so many slots; go on asking until so many more are held; begin the load; end it.
 *
 * @typedef {{ take: number } | { gather: number } | { load: true } | { end: true }} HoldMessage
 */

/**
 * One slot that was in use, with the clock that all processes of a machine have in common.
 *
 * @typedef {{ id: string, fromMs: number, toMs: number, byPolicy: boolean, own: number }} Span `own`: how many this process
 *   had in use then, with this one.
 */

/**
 * What it has done.
 *
 * @typedef {{ spans: Span[], denied: number, failed: number, errors: string[] }} HoldReport
 */

/** @type {HoldOrders} */
const orders = JSON.parse(process.argv[2] ?? '');
const { ids, holdMs } = orders;
const store = redisStore({ ...connection(), log: false });
const limiter = createLimiter({
  limits: { InFlight: concurrency({ key: accountId(), ...orders.limit }) },
  store,
  failure: { onFailure: 'local', gateways: orders.gateways, deadlineMs: orders.deadlineMs },
  log: false,
});

/** @type {HoldReport} */
const report = { spans: [], denied: 0, failed: 0, errors: [] };
/** @type {Map<string, number>} */
const inUse = new Map();
/** @type {Set<import('@sluice/core').Decision>} */
const kept = new Set();
const state = { isLoaded: false };

function connection() {
  const { server } = orders;
  if ('url' in server) return { url: server.url };
  const client = 'nodes' in server ? new Cluster(server.nodes) : new Redis(server);
  client.on('error', () => {});
  return { client };
}

function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

async function request() {
  const id = /** @type {string} */ (ids[Math.floor(Math.random() * ids.length)]);
  try {
    const held = await limiter.spend([{ limit: 'InFlight', id }], { hold: true });
    if (held.failure !== undefined) report.failed += 1;
    if (!held.allowed) {
      report.denied += 1;
      return false;
    }
    const own = (inUse.get(id) ?? 0) + 1;
    inUse.set(id, own);
    const fromMs = nowMs();
    await sleep(holdMs[0] + Math.random() * (holdMs[1] - holdMs[0]));
    report.spans.push({ id, fromMs, toMs: nowMs(), byPolicy: held.failure !== undefined, own });
    inUse.set(id, (inUse.get(id) ?? 0) - 1);
    // Not awaited: the next request comes meanwhile.
    void held.release();
  } catch (error) {
    report.errors.push(String(error));
  }
  return true;
}

async function work() {
  while (state.isLoaded) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    if (!(await request())) await sleep(5);
  }
}

/** @param {number} perSecond */
async function arrive(perSecond) {
  const startMs = nowMs();
  /** @type {Set<Promise<unknown>>} */
  const pending = new Set();
  for (let started = 0; state.isLoaded;) {
    for (const due = ((nowMs() - startMs) / 1000) * perSecond; started < due; started++) {
      const one = request().finally(() => pending.delete(one));
      pending.add(one);
    }
    // oxlint-disable-next-line no-await-in-loop
    await sleep(2);
  }
  await Promise.all(pending);
}

/**
 * @param {number} count
 * @param {number} everyMs 0: only as many as fit now.
 */
async function take(count, everyMs = 0) {
  const takenMs = [];
  while (takenMs.length < count) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const held = await limiter.spend([{ limit: 'InFlight', id: ids[0] ?? '' }], { hold: true });
    if (held.allowed && held.failure === undefined) {
      takenMs.push(nowMs());
      kept.add(held);
    } else if (everyMs === 0) break;
    // oxlint-disable-next-line no-await-in-loop
    else await sleep(everyMs);
  }
  return takenMs;
}

let load = Promise.resolve();

process.on('message', async (/** @type {HoldMessage} */ message) => {
  if ('take' in message) process.send?.({ takenMs: await take(message.take) });
  else if ('gather' in message) process.send?.({ takenMs: await take(message.gather, 10) });
  else if ('load' in message) {
    state.isLoaded = true;
    const { workers, perSecond } = orders;
    load = perSecond === undefined ? all(Array.from({ length: workers }, work)) : arrive(perSecond);
    process.send?.({});
  } else {
    state.isLoaded = false;
    await load;
    await Promise.all([...kept].map((held) => held.release()));
    process.send?.(report);
  }
});

/** @param {Promise<unknown>[]} promises */
async function all(promises) {
  await Promise.all(promises);
}

process.on('disconnect', () => process.exit());
await limiter.ready();
process.send?.('ready');

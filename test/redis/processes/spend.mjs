// Spends from one limit under the load that it is told, and records when each request passed. The processes of one load
// share it: one of them, another one every while, gets more requests than the others.
import { accountId, createLimiter } from '@sluice/core';
import { leasedStore, redisStore } from '@sluice/redis';
import { Cluster, Redis } from 'ioredis';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What it gets as its only argument.
 *
 * @typedef {object} SpendOrders
 * @property {{ url: string } | { nodes: Address[] } | { sentinels: Address[], name: string }} server
 * @property {boolean} isStrict Whether Redis decides each request.
 * @property {SpendLimit} limit
 * @property {number} gateways
 * @property {number} tags In a cluster, how many hash tags the buckets have.
 * @property {string[]} ids
 * @property {SpendLoad} load
 * @property {string} file Where it records, for each request that passed, three numbers: when it began, when it had passed,
 *   and the index of its id.
 */

/** @typedef {{ host: string, port: number }} Address */
/** @typedef {{ burst: number, count: number, period: string, overshoot: number, onFailure: 'closed' | 'local' }} SpendLimit */

/**
 * @typedef {object} SpendLoad
 * @property {number} perSecond The requests of all processes.
 * @property {number} skew How many times as many requests one process gets as each of the others.
 * @property {number} moveMs For how long it is the same process.
 * @property {number} index Which process this is.
 * @property {number} of How many there are.
 */

/**
 * A message to it: begin the load; read how old its views are; reset the bucket; use another limit; end.
 *
 * @typedef {{ load: true } | { age: true } | { reset: string } | { limit: SpendLimit } | { end: true }} SpendMessage
 */

/** @typedef {{ overdraft: number, leaseMs: number, syncMs: number }} SpendNumbers How it leases its limit. */

/** @typedef {{ asked: number, denied: number, unavailable: number, byPolicy: number, waits: number, errors: string[] }} SpendReport */

const CELL = 3;
const EVERY_MS = 2;

/** @type {SpendOrders} */
const orders = JSON.parse(process.argv[2] ?? '');
const { ids, load } = orders;
const file = openSync(orders.file, 'a');
const common = { ...connection(), log: /** @type {const} */ (false) };
const leased = orders.isStrict ? undefined : leasedStore({ ...common, gateways: orders.gateways });
const store = leased ?? redisStore(common);
const limiter = createLimiter({
  limits: limitsOf(orders.limit),
  store,
  // A strict process may have to wait for its turn on a busy machine.
  failure: { gateways: orders.gateways, deadlineMs: orders.isStrict ? 5000 : 50 },
  log: false,
});

/** @type {SpendReport} */
const report = { asked: 0, denied: 0, unavailable: 0, byPolicy: 0, waits: 0, errors: [] };
const state = { isLoaded: false };

function connection() {
  const { server, tags } = orders;
  if ('url' in server) return { url: server.url };
  if ('sentinels' in server) return { client: quiet(new Redis(server)) };
  const hashTag = (/** @type {{ id: string }} */ { id }) => `b${Number(id.replaceAll(/\D/g, '')) % tags}`;
  return { client: quiet(new Cluster(server.nodes)), hashTag };
}

/**
 * @template {Redis | Cluster} Client
 * @param {Client} client
 */
function quiet(client) {
  client.on('error', () => {});
  return client;
}

/** @param {SpendLimit} limit */
function limitsOf(limit) {
  return { Leased: { key: accountId(), ...limit } };
}

function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** @param {number} index */
async function request(index) {
  const fromMs = nowMs();
  report.asked += 1;
  try {
    const { allowed, outcome, failure } = await limiter.spend([{ limit: 'Leased', id: ids[index] ?? '' }]);
    if (failure !== undefined) report.byPolicy += 1;
    if (allowed) record(fromMs, index);
    else report[outcome === 'unavailable' ? 'unavailable' : 'denied'] += 1;
  } catch (error) {
    report.errors.push(String(error));
  }
}

/**
 * At once: the process may be killed in the next moment.
 *
 * @param {number} fromMs
 * @param {number} index
 */
function record(fromMs, index) {
  const cell = new Float64Array(CELL);
  cell.set([fromMs, nowMs(), index]);
  writeSync(file, cell);
}

/** The requests of this process in a second: by the clock that all processes of a machine have in common. */
function rateAt(/** @type {number} */ ms) {
  const isHot = Math.floor(ms / load.moveMs) % load.of === load.index;
  return (load.perSecond * (isHot ? load.skew : 1)) / (load.skew + load.of - 1);
}

async function arrive() {
  let [lastMs, due, asked] = [nowMs(), 0, 0];
  /** @type {Set<Promise<void>>} */
  const pending = new Set();
  while (state.isLoaded) {
    const ms = nowMs();
    due += ((ms - lastMs) / 1000) * rateAt(ms);
    lastMs = ms;
    for (; asked < due; asked++) {
      const one = request(asked % ids.length).finally(() => pending.delete(one));
      pending.add(one);
    }
    // oxlint-disable-next-line no-await-in-loop
    await sleep(EVERY_MS);
  }
  await Promise.all(pending);
}

/** How long ago the oldest of the last answered syncs was sent. */
function ageMs() {
  const ages = leased?.status().leases.streams.map(({ lastSyncMs }) => lastSyncMs ?? 0) ?? [];
  return Math.max(0, ...ages);
}

/** @returns {SpendNumbers} */
function numbers() {
  const { lease } = limiter.describe('Leased');
  if (lease?.leased !== true) return { overdraft: 0, leaseMs: 0, syncMs: 0 };
  return lease;
}

let arrivals = Promise.resolve();

/** @param {SpendMessage} message */
async function obey(message) {
  if ('load' in message) {
    state.isLoaded = true;
    arrivals = arrive();
    return {};
  }
  if ('age' in message) return { ageMs: ageMs() };
  if ('reset' in message) {
    await limiter.reset([{ limit: 'Leased', id: message.reset }]);
    return {};
  }
  if ('limit' in message) {
    limiter.replace({ limits: limitsOf(message.limit) });
    return numbers();
  }
  state.isLoaded = false;
  await arrivals;
  return { ...report, waits: leased?.status().leases.waits ?? 0 };
}

process.on('message', async (/** @type {SpendMessage} */ message) => process.send?.(await obey(message)));
process.on('disconnect', () => process.exit());
await limiter.ready({ timeoutMs: 30_000 });
process.send?.(numbers());

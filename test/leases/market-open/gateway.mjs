// One process of the market open on a real Redis: it makes its own requests, decides them, and counts what comes of them.
import { accountId, createLimiter, everyone } from '@sluice/core';
import { leasedStore, redisStore } from '@sluice/redis';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Clients } from './clients.mjs';

/**
 * What it is started with, as its only argument. Without numbers for clients, only everyone together has a limit.
 *
 * @typedef {{ burst: number, count: number, period: string, overshoot: number }} Numbers
 * @typedef {{ url: string, setup: 'closed' | 'open' | 'leased', gateways: number, everyone: Numbers, deadlineMs: number,
 *   client: Numbers | undefined, clients: number, exponent: number, seed: number }} GatewayOrders
 */

/**
 * A load: so many requests in progress at any time, or requests at a rate that rises.
 *
 * @typedef {{ lastsMs: number, inFlight: number }} ClosedLoad
 * @typedef {{ lastsMs: number, perSecond: number, toPerSecond: number, atMs: number, forMs: number }} OpenLoad
 */

/**
 * What came of a load. Of an open one, from the time on at which the rate has risen.
 *
 * @typedef {{ lastedMs: number, offered: number, decided: number, passed: number, unchecked: number, unavailable: number,
 *   latenciesMs: number[] }} Seen
 * @typedef {Seen & { offeredInAll: number, cpuMicros: number, passedAtMs: number[] }} Report
 */

/** One of so many decisions is timed. */
const TIMED = 16;
/** After so many requests, the event loop has a turn. */
const A_TURN = 32;

/** @type {GatewayOrders} */
const { url, setup, gateways, deadlineMs, client, seed, ...orders } = JSON.parse(process.argv[2] ?? '');
const store = setup === 'leased' ? leasedStore({ url, gateways }) : redisStore({ url });
/** @type {Record<string, import('@sluice/core').LimitDefinition>} */
const limits = { Everyone: { key: everyone(), ...orders.everyone } };
if (client !== undefined) limits['PerClient'] = { key: accountId(), ...client };
const limiter = createLimiter({
  limits,
  store,
  // The counts have it.
  log: false,
  failure: { deadlineMs, onFailure: setup === 'open' ? 'open' : 'closed', gateways },
});
const clients = new Clients({ ...orders, seed });
const ofEveryone = { limit: 'Everyone', id: 'everyone' };

/** @type {Seen} */
let seen;
/** When its load began. */
let startMs = 0;
/** From when on its decisions count. */
let countsFromMs = 0;
/** When requests were let through, of an open load from its beginning. @type {number[] | undefined} */
let passedAtMs;
let offeredInAll = 0;

async function request() {
  const sentMs = offeredInAll++ % TIMED === 0 ? performance.now() : undefined;
  seen.offered++;
  const batch = client === undefined ? [ofEveryone] : [{ limit: 'PerClient', id: String(clients.next()) }, ofEveryone];
  note(await limiter.spend(batch), sentMs);
}

/**
 * @param {import('@sluice/core').Decision} decision
 * @param {number | undefined} sentMs
 */
function note({ allowed, failure }, sentMs) {
  const nowMs = performance.now();
  if (sentMs !== undefined && sentMs >= countsFromMs) seen.latenciesMs.push(nowMs - sentMs);
  if (failure === undefined) seen.decided++;
  else if (allowed) seen.unchecked++;
  else seen.unavailable++;
  if (!allowed) return;
  seen.passed++;
  passedAtMs?.push(performance.timeOrigin + nowMs);
}

/** @param {ClosedLoad} load */
async function closedLoad({ lastsMs, inFlight }) {
  let turns = 0;
  const one = async () => {
    while (performance.now() - startMs < lastsMs) {
      // oxlint-disable-next-line no-await-in-loop -- the next when this one is decided
      await request();
      // oxlint-disable-next-line no-await-in-loop -- decisions in the process do not end a turn
      if (++turns % A_TURN === 0) await nextTurn();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
}

/** @param {OpenLoad} load */
async function openLoad({ lastsMs, perSecond, toPerSecond, atMs, forMs }) {
  /** How many requests have come by then. @param {number} ms */
  const dueBy = (ms) => {
    const risingMs = Math.min(Math.max(ms - atMs, 0), forMs);
    const risenMs = Math.max(ms - atMs - forMs, 0);
    const rising = (risingMs * risingMs) / (2 * forMs) + risenMs;
    return (perSecond * ms + (toPerSecond - perSecond) * rising) / 1000;
  };
  let isRisen = false;
  let made = 0;
  for (let ms = 0; ms < lastsMs; ms = performance.now() - startMs) {
    if (!isRisen && ms >= atMs + forMs) {
      isRisen = true;
      seen = nothing();
      countsFromMs = performance.now();
    }
    const due = Math.min(dueBy(ms), made + A_TURN);
    for (; made < due; made++) void request();
    // oxlint-disable-next-line no-await-in-loop -- the next are made when they are due
    await (made < dueBy(ms) ? nextTurn() : sleep(1));
  }
}

/** @returns {Seen} */
function nothing() {
  return { lastedMs: 0, offered: 0, decided: 0, passed: 0, unchecked: 0, unavailable: 0, latenciesMs: [] };
}

/** @param {ClosedLoad | OpenLoad} load */
async function run(load) {
  seen = nothing();
  offeredInAll = 0;
  startMs = countsFromMs = performance.now();
  passedAtMs = 'inFlight' in load ? undefined : [];
  const cpu = process.cpuUsage();
  await ('inFlight' in load ? closedLoad(load) : openLoad(load));
  const { user, system } = process.cpuUsage(cpu);
  /** @type {Report} */
  const report = {
    ...seen,
    offeredInAll,
    lastedMs: performance.now() - countsFromMs,
    cpuMicros: user + system,
    passedAtMs: passedAtMs ?? [],
  };
  process.send?.(report);
}

process.on('message', (/** @type {ClosedLoad | OpenLoad} */ load) => void run(load));
process.once('disconnect', () => process.exit());
// Ctrl-C ends the process that started this one, and with it this one.
process.on('SIGINT', () => undefined);

await limiter.ready({ timeoutMs: 10_000 });
process.send?.('ready');

// Takes from the same buckets as other processes, in batches whose order is random, for as long as told.
import { accountId, createLimiter } from '@sluice/core';
import { postgresStore } from '@sluice/postgres';
import pg from 'pg';

/**
 * What it is told, as its only argument.
 *
 * @typedef {{ url: string, table: string, burst: number, ids: number, lastsMs: number, inFlight: number }} HuntOrders
 */

/**
 * What it has seen: how many tokens it got of each id, and what failed.
 *
 * @typedef {{ decisions: number, taken: number[], failures: string[] }} Hunted
 */

const LIMITS = ['A', 'B', 'C'];

/** @type {HuntOrders} */
const { url, table, burst, ids, lastsMs, inFlight } = JSON.parse(process.argv[2] ?? '');
const pool = new pg.Pool({ connectionString: url, max: 4 });
pool.on('error', () => {});
// Several stores of one process overlap, too.
const stores = Array.from({ length: 3 }, () => postgresStore({ pool, table }));
const limits = Object.fromEntries(
  LIMITS.map((name) => [name, { key: accountId(), burst, count: 1, period: /** @type {const} */ ('7d') }]),
);
const failure = { deadlineMs: 20_000, onFailure: /** @type {const} */ ('closed') };
const limiters = stores.map((store) => createLimiter({ limits, store, failure, log: false }));
await Promise.all(stores.map((store) => store.ready()));

/** @type {Hunted} */
const seen = { decisions: 0, taken: Array(ids).fill(0), failures: [] };

/**
 * @param {number} untilMs
 * @param {number} worker
 */
async function hunt(untilMs, worker) {
  const limiter = /** @type {import('@sluice/core').Limiter<string>} */ (limiters[worker % limiters.length]);
  while (performance.now() < untilMs) {
    const entries = someOf(LIMITS.flatMap((limit) => Array.from({ length: ids }, (_, id) => ({ limit, id: `${id}` }))));
    // oxlint-disable-next-line no-await-in-loop -- the next when this one is decided
    const decision = await limiter.spend(entries);
    seen.decisions++;
    if (decision.failure !== undefined) seen.failures.push(String(decision.failure.cause));
    if (decision.outcome !== 'allowed') continue;
    for (const { limit, id } of entries) {
      if (limit === 'A') seen.taken[Number(id)] = (seen.taken[Number(id)] ?? 0) + 1;
    }
    // oxlint-disable-next-line no-await-in-loop
    if (Math.random() < 0.1)
      await limiter.reset([{ limit: 'C', id: '0' }]).catch((error) => seen.failures.push(String(error)));
  }
}

/**
 * One to six of all, in random order.
 *
 * @template T
 * @param {readonly T[]} all
 */
function someOf(all) {
  const left = [...all];
  const count = 1 + Math.floor(Math.random() * 6);
  return Array.from(
    { length: count },
    () => /** @type {T} */ (left.splice(Math.floor(Math.random() * left.length), 1)[0]),
  );
}

process.once('message', () => {
  const untilMs = performance.now() + lastsMs;
  void Promise.all(Array.from({ length: inFlight }, (_, worker) => hunt(untilMs, worker))).then(async () => {
    for (const store of stores) await store.close();
    await pool.end();
    process.send?.(seen, () => process.disconnect());
  });
});
process.send?.('ready');

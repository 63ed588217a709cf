// `npm run trial -- turns-postgres` asks a warm PostgreSQL store for many decisions in one turn of the event loop, more than it
// answers within their deadline, and prints how many are decided in time, beside what its steady rate would decide.
import { setTimeout as delay } from 'node:timers/promises';
import { accountId, createLimiter } from '@sluice/core';
import { postgresStore } from '@sluice/postgres';
import { Pool } from 'pg';
import { startPostgres } from './server.mjs';

const DEADLINE_MS = 50;
const STEADY_MS = 2000;
/** So many decisions are pending in the steady state: some statements. */
const PENDING = 256;
const TURNS = [100, 1000, 5000];
const REPEATS = 11;

const pool = new Pool({ connectionString: await startPostgres({ core: 1 }) });
const store = postgresStore({ pool });
let outages = 0;
const limiter = createLimiter({
  limits: { Orders: { key: accountId(), burst: 1_000_000, count: 1_000_000, period: '1s', onFailure: 'closed' } },
  store,
  log: false,
  onEvent: ({ type }) => {
    if (type === 'store-failing') outages++;
  },
});
await limiter.ready();

let ids = 0;

/** Whether a decision was made by PostgreSQL. */
async function decide() {
  const decision = await limiter.spend([{ limit: 'Orders', id: String(ids++ % 10_000) }]);
  return decision.failure === undefined;
}

/** Decisions in a millisecond while there are always some pending. */
async function steadyRate() {
  const endMs = performance.now() + STEADY_MS;
  let decided = 0;
  const client = async () => {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    while (performance.now() < endMs) if (await decide()) decided++;
  };
  await Promise.all(Array.from({ length: PENDING }, client));
  return decided / STEADY_MS;
}

/** @param {number} count */
async function turn(count) {
  const decided = await Promise.all(Array.from({ length: count }, decide));
  await delay(300);
  return decided.filter(Boolean).length;
}

await steadyRate();
const rate = await steadyRate();
const most = Math.round(rate * DEADLINE_MS);
console.log(`Steady: ${Math.round(rate * 1000)} decisions a second, ${most} in a deadline of ${DEADLINE_MS} ms`);
for (const count of TURNS) {
  const before = outages;
  const all = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (let i = 0; i < REPEATS; i++) all.push(await turn(count));
  all.sort((a, b) => a - b);
  const median = all[(REPEATS - 1) / 2] ?? 0;
  const share = Math.round((100 * median) / Math.min(count, most));
  console.log(
    `${count} in one turn: ${median} decided (${all[0]} to ${all.at(-1)}), ${share} % of what the rate allows, ${outages - before} outages`,
  );
}
await limiter.close({ store: true });
await pool.end();
process.exit();

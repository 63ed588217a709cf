// `node scripts/simulated-reserve.mjs` prints the table of docs/when-it-is-too-much.md about reserves of slots: how often a
// real limiter calls its store to take slots, in a simulated process.
import { builtCore } from './built-core.mjs';
import { isProgram } from './is-program.mjs';

/** @typedef {import('./built-core.mjs').Core} Core */

const RESERVES = [1, 5, 10, 20, 50];
const RATES = [100, 1000];
const WORK_MS = 50;
const SECONDS = 30;

/**
 * Returns the rows of the table.
 *
 * @param {Core} core
 */
export async function reserveRows(core) {
  const rows = [];
  for (const reserve of RESERVES) {
    const calls = [];
    for (const rate of RATES) calls.push(rounded(await callsPerSecond(core, { reserve, rate })));
    rows.push([String(reserve), ...calls]);
  }
  return rows;
}

/** @param {number} calls */
function rounded(calls) {
  return calls < 1 ? calls.toFixed(1) : Math.round(calls).toLocaleString('en');
}

/**
 * Requests arrive at random, and take a random time.
 *
 * @param {Core} core
 * @param {{ reserve: number, rate: number }} load
 */
async function callsPerSecond({ createLimiter, everyone, memoryStore, FakeTime }, { reserve, rate }) {
  const time = new FakeTime();
  const store = memoryStore({ time });
  let calls = 0;
  /** @type {typeof store.run} */
  const run = (operation) => {
    if (operation.kind === 'spend') calls++;
    return store.run(operation);
  };
  const counting = Object.assign(Object.create(store), { run, take: undefined });
  const limits = { Fleet: { key: everyone(), concurrency: 2000, reserve } };
  const limiter = createLimiter({ limits, store: counting, time, log: false });
  const waitMs = exponential();
  /** @type {{ endMs: number, release: () => unknown }[]} */
  let busy = [];
  let nextMs = waitMs(1000 / rate);
  for (let nowMs = 1; nowMs <= SECONDS * 1000; nowMs++) {
    await time.pass(1);
    for (const { endMs, release } of busy) if (endMs <= nowMs) release();
    busy = busy.filter(({ endMs }) => endMs > nowMs);
    for (; nextMs <= nowMs; nextMs += waitMs(1000 / rate)) {
      const held = await limiter.hold([{ limit: 'Fleet', id: 'everyone' }]);
      busy.push({ endMs: nowMs + waitMs(WORK_MS), release: () => held.release() });
    }
  }
  await limiter.close();
  return calls / SECONDS;
}

/** Random times with a mean, the same in each run. */
function exponential() {
  let seed = 1;
  return (/** @type {number} */ meanMs) => {
    seed = (seed * 16_807) % 2_147_483_647;
    return -Math.log(seed / 2_147_483_647) * meanMs;
  };
}

if (isProgram(import.meta.url)) {
  for (const row of await reserveRows(await builtCore())) console.log(`| ${row.join(' | ')} |`);
}

// `node load.mjs` offers a server more and more requests, with and without its load limit, and prints a table.
// `node load.mjs wave` offers it three times what it can answer and almost nothing in turn, and prints the level.
import { spawn } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { capacityOf, DEADLINE_MS, offer } from './traffic.mjs';

/** @typedef {import('./traffic.mjs').Answer} Answer */

/** How long each rate is offered, and how long before the answers count: the level needs some seconds to rise and fall. */
const seconds = Number(process.env.SECONDS ?? 30);
const settleSeconds = seconds / 2;
/** The rates that are offered, as multiples of what the server can answer. */
const rates = (process.env.RATES ?? '0.5,1,2,3').split(',').map(Number);

const capacity = await measuredCapacity();
console.log(`Capacity: ${capacity.toFixed(0)} requests a second. Load average of the machine: ${average()}.\n`);
await (process.argv[2] === 'wave' ? wave() : table());

async function measuredCapacity() {
  return await withServer('off', async (url) => {
    await capacityOf(url, Math.min(1, seconds));
    return await capacityOf(url, Math.min(4, seconds));
  });
}

async function table() {
  print([
    'offered',
    'load limit',
    'goodput',
    'p50',
    'p99',
    '503',
    'gave up',
    'critical denied',
    'critical late',
    'load',
  ]);
  /** @type {Record<string, number[]>} */
  const goodputs = { off: [], on: [] };
  for (const times of rates) {
    for (const shedding of /** @type {const} */ (['off', 'on'])) {
      const answers = await withServer(shedding, (url) => offer(url, { seconds, rate: () => times * capacity }));
      const settled = answers.filter(({ atMs }) => atMs >= settleSeconds * 1000);
      goodputs[shedding]?.push(goodput(settled));
      print([`${times} x`, shedding, goodput(settled).toFixed(0), ...row(answers, settled), average()]);
    }
  }
  const ofPeak = (/** @type {number[]} */ all) => ((all.at(-1) ?? 0) / Math.max(...all)).toFixed(2);
  console.log(`
Goodput: answers 200 within ${DEADLINE_MS} ms, a second. "critical denied" counts the whole time, the other columns
the time from second ${settleSeconds} on. At ${rates.at(-1)} times the capacity, the goodput is ${ofPeak(goodputs.on ?? [])} of its peak with the load limit,
and ${ofPeak(goodputs.off ?? [])} without it.`);
}

async function wave() {
  const high = 3 * capacity;
  const low = 0.3 * capacity;
  const rate = (/** @type {number} */ second) => (Math.floor(second / seconds) % 2 === 0 ? high : low);
  await withServer('on', async (url) => {
    /** @type {number[]} */
    const levels = [];
    const timer = setInterval(() => void levelOf(url).then((level) => levels.push(level)), 1000);
    await offer(url, { seconds: 6 * seconds, rate });
    clearInterval(timer);
    for (let half = 0; half < 6; half++) {
      const part = levels.slice(half * seconds, (half + 1) * seconds);
      const shown = part.filter((_, i) => i % 2 === 0).map((level) => level.toFixed(2));
      console.log(`${half % 2 === 0 ? '3.0 x' : '0.3 x'}  ${shown.join(' ')}`);
    }
    console.log(`
The level changed its direction by 0.1 or more ${turns(levels)} times in three periods of ${2 * seconds} s.
Load average of the machine: ${average()}.`);
  });
}

/**
 * @param {Answer[]} answers all of them
 * @param {Answer[]} settled those of the second half
 */
function row(answers, settled) {
  const times = settled.filter(({ status }) => status === 200).map(({ ms }) => ms);
  times.sort((a, b) => a - b);
  const quantile = (/** @type {number} */ part) => `${times[Math.floor(part * times.length)]?.toFixed(0) ?? '-'} ms`;
  const critical = (/** @type {Answer[]} */ some) => some.filter(({ kind }) => kind === 'critical');
  const denied = critical(answers).filter(({ status }) => status >= 400).length;
  const late = critical(settled).filter(({ status, ms }) => status === 0 || (status === 200 && ms > DEADLINE_MS));
  return [
    quantile(0.5),
    quantile(0.99),
    settled.filter(({ status }) => status === 503).length,
    settled.filter(({ status }) => status === 0).length,
    `${denied} of ${critical(answers).length}`,
    `${late.length} of ${critical(settled).length}`,
  ];
}

/** @param {Answer[]} settled */
function goodput(settled) {
  return settled.filter(({ status, ms }) => status === 200 && ms <= DEADLINE_MS).length / (seconds - settleSeconds);
}

/** How often levels that rose fell again by 0.1 or more, or the other way round. @param {readonly number[]} levels */
function turns(levels) {
  let count = 0;
  let isRising = true;
  let farthest = 0;
  for (const level of levels) {
    const back = isRising ? farthest - level : level - farthest;
    if (back < 0.1) {
      farthest = isRising ? Math.max(farthest, level) : Math.min(farthest, level);
    } else {
      count++;
      isRising = !isRising;
      farthest = level;
    }
  }
  return count;
}

async function levelOf(/** @type {string} */ url) {
  const { level } = /** @type {{ level: number }} */ (await (await fetch(`${url}/health`)).json());
  return level;
}

/** @param {readonly (string | number)[]} cells */
function print(cells) {
  console.log(cells.map((cell, i) => String(cell).padStart([8, 10, 8, 8, 8, 6, 8, 16, 14, 6][i] ?? 0)).join(' '));
}

function average() {
  return (loadavg()[0] ?? 0).toFixed(1);
}

/**
 * Starts a server, a process of its own, for the time of a function.
 *
 * @template T
 * @param {'on' | 'off'} shedding
 * @param {(url: string) => Promise<T>} use
 */
async function withServer(shedding, use) {
  const path = fileURLToPath(new URL('server.js', import.meta.url));
  const env = { ...process.env, PORT: '0', SHEDDING: shedding };
  const server = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    return await use(await printedUrl(server));
  } finally {
    server.kill('SIGKILL');
  }
}

/** @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, null>} server */
async function printedUrl({ stdout }) {
  let output = '';
  for await (const chunk of stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const [, url] = /^Listening on (http:\S+)$/m.exec(output) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`The server ended before it listened:\n${output}`);
}

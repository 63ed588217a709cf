// Sends 400 requests of one API key, 50 at a time, and says who let how many through.
import { keyFor } from './keys.js';
import { LEASED, NUMBERS } from './processes.js';

const url = process.argv[2] ?? 'http://127.0.0.1:3000';
const key = keyFor(`flood-${process.pid}`);
const requests = 400;
const atOnce = 50;

/** @type {Map<number, number>} */
const passed = new Map();
/** @type {Map<number, number>} */
const statuses = new Map();

let sent = 0;
const startMs = performance.now();
await Promise.all(Array.from({ length: atOnce }, sendOnAndOn));
// As it is printed.
const seconds = Math.ceil(100 * ((performance.now() - startMs) / 1000)) / 100;

async function sendOnAndOn() {
  while (sent++ < requests) {
    const answer = await fetch(url, { headers: { 'X-API-Key': key } });
    count(statuses, answer.status);
    const body = /** @type {{ process: number }} */ (await answer.json());
    if (answer.status === 200) count(passed, body.process);
  }
}

/** @type {(counts: Map<number, number>, what: number) => void} */
function count(counts, what) {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

const shares = [...passed].toSorted(([a], [b]) => a - b).map(([id, share]) => `${share} by process ${id}`);
const { burst, count: perSecond, overshoot } = NUMBERS;
const more = LEASED ? burst * overshoot : 0;
const most = burst + Math.floor(perSecond * seconds) + more;
console.log(`${requests} requests in ${seconds.toFixed(2)} s: ${statuses.get(200) ?? 0} passed (${shares.join(', ')})`);
console.log(
  `${statuses.get(429) ?? 0} were denied. ${burst} at once and ${perSecond} a second${LEASED ? `, and ${more} more by leases,` : ''} are at most ${most}.`,
);

// `node scripts/example-log.mjs` prints an access log of one afternoon, always the same, and with the argument 2 that of
// the next day. docs/choosing-numbers.md has its figures.
import { isProgram } from './is-program.mjs';
import { randomNumbers } from './random-numbers.mjs';

const FROM_MS = Date.UTC(2026, 10, 22, 13);
const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
const VISITORS = 3200;
const PRODUCTS = 400;

/** @typedef {() => number} Random */
/** @typedef {{ ms: number, address: string, request: string, status: number }} Logged */

/**
 * Returns the lines of the log, in the format `combined` of nginx and Apache.
 *
 * @param {number} day from 1 on
 */
export function exampleLog(day = 1) {
  const random = randomNumbers(day);
  const requests = [
    ...Array.from({ length: VISITORS }, (_, i) => visitor(random, visitorAddress(i))).flat(),
    ...office(random),
    ...crawler(random),
    ...passwordGuesser(),
  ];
  const fromMs = FROM_MS + day * 24 * HOUR;
  return requests.toSorted((a, b) => a.ms - b.ms).map((request) => lineOf(request, fromMs));
}

/** A person reads a few pages, and one in forty reads many. @param {Random} random @param {string} address */
function visitor(random, address) {
  let ms = random() * 3.5 * HOUR;
  const pages = random() < 1 / 40 ? 10 + Math.floor(random() * 30) : 1 + Math.floor(random() * random() * 6);
  return Array.from({ length: pages }, () => {
    const requests = page(random, address, ms);
    ms += (3 + random() * 57) * SECOND;
    return requests;
  }).flat();
}

/** A page and the calls of the API that it makes. @param {Random} random @param {string} address @param {number} ms */
function page(random, address, ms) {
  const product = Math.floor(random() * PRODUCTS);
  const calls = [`products/${product}`, `products/${product}/reviews`, 'cart', 'recommendations', 'stock'];
  const requests = [requested(ms, address, `GET /products/${product}`)];
  for (const path of calls) requests.push(requested(ms + 200 + random() * SECOND, address, `GET /api/${path}`));
  return requests;
}

/** Thirty people of a customer work behind one address for an hour and a half. @param {Random} random */
function office(random) {
  return Array.from({ length: 30 * 90 }, () => page(random, '203.0.113.10', HOUR + random() * 1.5 * HOUR)).flat();
}

/** Six pages in a second, for twenty minutes. @param {Random} random */
function crawler(random) {
  return Array.from({ length: 6 * 20 * 60 }, (_, i) =>
    requested(2 * HOUR + (i * SECOND) / 6, '198.51.100.23', `GET /products/${Math.floor(random() * PRODUCTS)}`),
  );
}

/** Bursts of 120 passwords, ten minutes apart. */
function passwordGuesser() {
  return Array.from({ length: 1200 }, (_, i) => {
    const ms = 30 * MINUTE + Math.floor(i / 120) * 10 * MINUTE + (i % 120) * 50;
    return requested(ms, '192.0.2.77', 'POST /login', 401);
  });
}

/** One in eight visitors has an IPv6 address, each of another network. @param {number} i */
function visitorAddress(i) {
  return i % 8 === 0
    ? `2001:db8:${i.toString(16)}::${(i % 7) + 1}`
    : `100.${64 + (i >> 8)}.${i & 255}.${(i * 7) % 250}`;
}

/** @param {number} ms since the beginning @param {string} address @param {string} request @returns {Logged} */
function requested(ms, address, request, status = 200) {
  return { ms, address, request, status };
}

/** @param {Logged} request @param {number} fromMs */
function lineOf({ ms, address, request, status }, fromMs) {
  return `${address} - - [${timeOf(fromMs + ms)}] "${request} HTTP/1.1" ${status} 512 "-" "Mozilla/5.0"`;
}

/** @param {number} ms */
function timeOf(ms) {
  return new Date(ms).toUTCString().replace(/^\w+, (\d+) (\w+) (\d+) ([\d:]+) GMT$/, '$1/$2/$3:$4 +0000');
}

if (isProgram(import.meta.url)) console.log(exampleLog(Number(process.argv[2] ?? 1)).join('\n'));

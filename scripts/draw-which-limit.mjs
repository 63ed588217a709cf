// `node scripts/draw-which-limit.mjs` draws the pictures of docs/which-limit.md into docs/which-limit, from the decisions
// of a real limiter with a simulated clock.
import { builtCore } from './built-core.mjs';
import { drawChart, writePictures } from './drawing.mjs';
import { isProgram } from './is-program.mjs';
import { Bucket, moments, outcome } from './simulated-bucket.mjs';

/**
 * @typedef {import('./built-core.mjs').CoreWithKinds} Core
 * @typedef {{ atMs: number, mark: import('./drawing.mjs').Mark }} Marked
 * @typedef {import('./drawing.mjs').Point} Point
 */

/** A time scale of ten steps. @param {number} endMs */
const inSeconds = (endMs) => ({ endMs, everyMs: endMs / 10, unit: { name: 'time in seconds', ms: 1000 } });

/** @param {Core} core */
async function rate(core) {
  const bucket = new Bucket(core, { burst: 5, count: 1, period: 1000 });
  const marks = [];
  for (const atMs of [
    ...moments({ from: 0, every: 100, count: 8 }),
    ...moments({ from: 3000, every: 500, count: 12 }),
  ]) {
    marks.push({ atMs, mark: outcome(await bucket.spend(atMs)) });
  }
  return drawChart({
    title: 'A rate: burst 5, one token a second',
    description: 'Five requests are allowed at once and three are denied. Later, one request a second is allowed.',
    time: inSeconds(10_000),
    scale: { label: 'tokens left', lowest: 0, highest: 5, every: 1 },
    lines: [{ label: 'tokens in the bucket', points: await bucket.curve(10_000), colour: 'line' }],
    rows: [{ label: 'requests', marks }],
    bounds: [],
  });
}

/** @param {Core} core */
async function share(core) {
  const bucket = new Bucket(core, { burst: 10, count: 2, period: 1000 });
  /** @type {Marked[]} */
  const jobs = [];
  /** @type {Marked[]} */
  const checkouts = [];
  for (const atMs of moments({ from: 0, every: 200, count: 50 })) {
    jobs.push({ atMs, mark: outcome(await bucket.spend(atMs, { share: 0.5 })) });
    const isBusy = atMs >= 4000 && atMs < 5000;
    if (isBusy) checkouts.push({ atMs: atMs + 100, mark: outcome(await bucket.spend(atMs + 100)) });
  }
  return drawChart({
    title: 'A share: batch jobs may use half of the bucket',
    description:
      'Batch jobs take five tokens at first, and then two a second. Five checkouts take tokens of the other half.',
    time: inSeconds(10_000),
    scale: { label: 'tokens left', lowest: 0, highest: 10, every: 2 },
    lines: [{ label: 'tokens in the bucket', points: await bucket.curve(10_000), colour: 'line' }],
    rows: [
      { label: 'batch jobs', marks: jobs },
      { label: 'checkouts', marks: checkouts },
    ],
    bounds: [{ label: 'share: 0.5', value: 5 }],
  });
}

/** @param {Core} core */
async function queue(core) {
  const bucket = new Bucket(core, { burst: 1, count: 10, period: 1000, maxWait: 1000 });
  /** @type {Marked[]} */
  const arrivals = [];
  /** @type {Marked[]} */
  const starts = [];
  for (const atMs of moments({ from: 0, every: 25, count: 20 })) {
    const decision = await bucket.spend(atMs);
    arrivals.push({ atMs, mark: outcome(decision) });
    if (decision.allowed) starts.push({ atMs: atMs + decision.delayMs, mark: 'yes' });
  }
  return drawChart({
    title: 'A queue: burst 1, ten a second, maxWait of one second',
    description:
      'Twenty requests arrive within half a second. One continues every 100 ms; those that would wait longer than a second are denied.',
    time: inSeconds(2000),
    scale: { label: 'tokens left', lowest: -10, highest: 2, every: 2 },
    lines: [{ label: 'tokens; below 0, requests are queued', points: await bucket.curve(2000), colour: 'line' }],
    rows: [
      { label: 'arrive', marks: arrivals },
      { label: 'continue', marks: starts },
    ],
    bounds: [{ label: 'maxWait: 1 s', value: -10 }],
  });
}

/** @param {Core} core */
async function debt(core) {
  const bucket = new Bucket(core, { burst: 10, count: 1, period: 1000, maxDebt: 5 });
  const marks = [];
  for (const atMs of moments({ from: 0, every: 1000, count: 20 })) {
    marks.push({ atMs, mark: outcome(await bucket.spend(atMs)) });
    // The first answer cost more than expected.
    if (atMs === 2000) await bucket.charge(2500, 20);
  }
  return drawChart({
    title: 'A debt: a charge takes the bucket below empty',
    description:
      'A charge of 20 tokens empties a bucket of 10 and leaves a debt of 5. Requests are denied for six seconds, until it is paid back and a token has come back.',
    time: inSeconds(20_000),
    scale: { label: 'tokens left', lowest: -5, highest: 10, every: 5 },
    lines: [{ label: 'tokens in the bucket', points: await bucket.curve(20_000), colour: 'line' }],
    rows: [{ label: 'requests', marks }],
    bounds: [{ label: 'maxDebt: 5', value: -5 }],
  });
}

/** @param {Core} core */
async function quota({ createLimiter, accountId, quota: quotaLimit, FakeTime }) {
  const time = new FakeTime();
  const day = 86_400_000;
  const newYear = Date.UTC(2026, 0, 1);
  const limiter = createLimiter({
    limits: { Monthly: quotaLimit({ key: accountId(), count: 40, per: 'month' }) },
    time,
  });
  /** @type {Marked[]} */
  const marks = [];
  const points = [];
  for (const atMs of moments({ from: 0, every: day / 2, count: 120 })) {
    time.set(newYear + atMs);
    const before = await limiter.check([{ limit: 'Monthly', id: 'one', cost: 0 }]);
    const decision = await limiter.spend([{ limit: 'Monthly', id: 'one' }]);
    marks.push({ atMs, mark: outcome(decision) });
    points.push({ atMs, value: before.remaining }, { atMs, value: decision.remaining });
  }
  return drawChart({
    title: 'A quota: 40 a month',
    description:
      'Two requests a day use up the 40 tokens on the 20th of January. All of them are back on the first of February.',
    time: { endMs: 60 * day, everyMs: 10 * day, unit: { name: 'days since 1 January', ms: day } },
    scale: { label: 'tokens left', lowest: 0, highest: 40, every: 10 },
    lines: [{ label: 'tokens left in the month', points, colour: 'line' }],
    rows: [{ label: 'requests', marks }],
    bounds: [],
  });
}

/** @param {Core} core */
async function borrowing({ createLimiter, accountId, borrow, everyone, FakeTime }) {
  const time = new FakeTime();
  const ceiling = { count: 8, period: '1s' };
  const limiter = createLimiter({
    limits: {
      PerTenant: borrow({ key: accountId(), count: 2, period: '1s', borrow: { from: 'Pool', ceiling, tenants: 2 } }),
      Pool: { key: everyone(), count: 10, period: '1s' },
    },
    time,
  });
  /** @type {Record<'one' | 'other', Marked[]>} */
  const marks = { one: [], other: [] };
  const send = async (/** @type {'one' | 'other'} */ id) => {
    const decision = await limiter.spend([{ limit: 'PerTenant', id }]);
    const isBorrowed = decision.results.some(({ borrowed }) => borrowed);
    marks[id].push({ atMs: time.nowMs, mark: decision.allowed && isBorrowed ? 'other' : outcome(decision) });
  };
  /** @type {Point[]} */
  const points = [];
  for (const atMs of moments({ from: 0, every: 50, count: 200 })) {
    time.set(atMs);
    if (atMs % 100 === 0) await send('one');
    if (atMs % 100 === 50 && atMs > 4000 && atMs < 8000) await send('other');
    const { resetAfterMs } = await limiter.check([{ limit: 'Pool', id: 'everyone', cost: 0 }]);
    points.push({ atMs, value: 10 - resetAfterMs / 100 });
  }
  return drawChart({
    title: 'Borrowing: two tenants with an assured rate of two a second each, and a pool of ten a second',
    description:
      'One tenant alone gets its ceiling of eight a second. While the other sends requests too, both get about five a second.',
    time: inSeconds(10_000),
    scale: { label: 'tokens left', lowest: -2, highest: 10, every: 2 },
    lines: [{ label: 'tokens in the pool', points, colour: 'line' }],
    rows: [
      { label: 'one tenant', marks: marks.one },
      { label: 'another tenant', marks: marks.other },
    ],
    bounds: [],
  });
}

/**
 * All pictures by the names of their files.
 *
 * @param {Core} core
 * @returns {Promise<Record<string, string>>}
 */
export async function pictures(core) {
  return {
    'rate.svg': await rate(core),
    'share.svg': await share(core),
    'queue.svg': await queue(core),
    'debt.svg': await debt(core),
    'quota.svg': await quota(core),
    'borrowing.svg': await borrowing(core),
  };
}

if (isProgram(import.meta.url)) {
  writePictures(new URL('../docs/which-limit/', import.meta.url), await pictures(await builtCore()));
}

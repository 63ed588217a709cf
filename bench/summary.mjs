// `node bench/summary.mjs` prints the table of docs/measured/performance.md, as Markdown, from the results.
import { readResults, resultFile } from './harness/result-file.mjs';
import { tenths, whole } from './harness/table.mjs';

const CONTENDERS = ['Sluice', 'express-rate-limit', 'rate-limiter-flexible', '@fastify/rate-limit', 'koa-ratelimit'];
/** Whose store for Redis is a package of its own. */
const OVER_REDIS = { 'express-rate-limit': 'rate-limit-redis' };
const NONE = 'no limiter';

/**
 * @typedef {object} Row
 * @property {string} what
 * @property {string} part
 * @property {string} case
 * @property {string} figure
 * @property {(value: number) => string} format
 * @property {string} [above] Whose figure is taken off, turn by turn.
 * @property {Readonly<Record<string, string>>} [standIns]
 */

/** @type {Row[]} */
const ROWS = [
  { what: 'one decision, always for the same id, ns', ...inMemory('hot id') },
  { what: 'one decision among 100,000 ids, each a newly built string, ns', ...inMemory('100k ids, fresh strings') },
  { what: 'one decision among a million ids, ns', ...inMemory('1M ids') },
  { what: 'memory of an id, bytes', part: 'bytes', case: 'account ids', figure: 'heapBytes', format: whole },
  {
    what: 'longest time that a flood of ten million ids blocks the event loop, ms',
    part: 'stalls',
    case: 'flood of 10M',
    figure: 'busyMs',
    format: whole,
  },
  ...['Express', 'Koa', 'Fastify'].map((framework) => ({
    what: `CPU time added to a request to ${framework}, µs`,
    part: 'http',
    case: `${framework}, allowed`,
    figure: 'serverCpuMicros',
    format: tenths,
    above: NONE,
  })),
  { what: 'decisions per second through Redis ¹, 1 at a time', ...throughRedis('1 in flight', 'decisionsPerSecond') },
  { what: 'decisions per second through Redis ¹, 64 at a time', ...throughRedis('64 in flight', 'decisionsPerSecond') },
  {
    what: 'CPU time of the Node process per decision, at 64 at a time ¹, µs',
    ...throughRedis('64 in flight', 'clientCpuMicros'),
    format: tenths,
  },
];

const cells = [['', ...CONTENDERS], ...ROWS.map((row) => [row.what, ...CONTENDERS.map((name) => cell(row, name))])];
const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0), 3)) ?? [];
const [head = '', ...body] = cells.map(
  (row) => `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |`,
);
console.log([head, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...body].join('\n'));
console.log('\n¹ express-rate-limit with its store, rate-limit-redis.');

/** @param {string} name */
function inMemory(name) {
  return { part: 'memory', case: `${name}, awaited`, figure: 'nanoseconds', format: whole };
}

/**
 * @param {string} name
 * @param {string} figure
 */
function throughRedis(name, figure) {
  return { part: 'redis', case: name, figure, format: whole, standIns: OVER_REDIS };
}

/**
 * @param {Row} row
 * @param {string} contender
 */
function cell({ part, case: name, figure, format, above, standIns = {} }, contender) {
  const { results } = readResults(resultFile(part));
  const own = standIns[contender] ?? contender;
  const spread = above === undefined ? results.figure(own, name, figure) : results.difference(own, above, name, figure);
  return spread === undefined ? '–' : format(spread.median);
}

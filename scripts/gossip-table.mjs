// `npm run trial -- gossip-table` prints the table of docs/decisions/0026-a-store-not-gossip.md: a bot, and a crawler that has
// enough requests for a limit in each of two or eight gateways.
import { isProgram } from './is-program.mjs';

/** @typedef {import('../tools/cli/src/simulate/counting/report.ts').SimulationReport} Report */

const SCENARIO = `
limits:
  Requests: { burst: 200, count: 100, period: 1s, overshoot: 0.1 }
clients:
  bot:
    arrivals: { burst: 2000, over: 100ms }
  crawler:
    arrivals: { rate: 1500, from: 0s, to: 4s }
compare: [gossip, leased]
delay: 100ms
within: 1s
`;
const WHOLE_TIME = 'from: 0s, to: 4s';
export const LOADS = [
  { gateways: 2, load: 'even', fields: '' },
  { gateways: 2, load: 'skewed', fields: 'skew: 9' },
  { gateways: 2, load: 'in 2 parts', fields: `partition: { parts: 2, ${WHOLE_TIME} }` },
  { gateways: 8, load: 'even', fields: '' },
  { gateways: 8, load: 'skewed', fields: 'skew: 9' },
  { gateways: 8, load: 'in 2 parts', fields: `partition: { parts: 2, ${WHOLE_TIME} }` },
  { gateways: 8, load: 'in 8 parts', fields: `partition: { parts: 8, ${WHOLE_TIME} }` },
];
const CONTESTANTS = ['Sluice', 'gossip', 'leases'];

/**
 * How many requests are let through at a load.
 *
 * @param {(typeof LOADS)[number]} load
 * @returns {Promise<readonly string[]>}
 */
export async function rowOf({ gateways, load, fields }) {
  const { clients } = await simulated(gateways, fields);
  return [String(gateways), load, ...clients.flatMap(cellsOf)];
}

/** @type {(gateways: number, fields: string) => Promise<Report>} */
async function simulated(gateways, fields) {
  const { readScenario, simulate } = await import('../tools/cli/src/simulate/index.ts');
  return simulate(await readScenario(`${SCENARIO}processes: ${gateways}\n${fields}\n`, 'gossip.yaml'));
}

/** @param {Report['clients'][number]} client */
function cellsOf({ results }) {
  return results.map(({ allowed }) => allowed.toLocaleString('en'));
}

/** @param {readonly string[]} cells */
function printRow(cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

if (isProgram(import.meta.url)) {
  const titles = ['bot', 'crawler'].flatMap((client) => CONTESTANTS.map((name) => `${client}: ${name}`));
  printRow(['gateways', 'load', ...titles]);
  printRow(['---', '---', ...titles.map(() => '---')]);
  for (const load of LOADS) printRow(await rowOf(load));
}

// `npm run gossip:table` prints the table of docs/decisions/0026-a-store-not-gossip.md: the scenario that the docs draw,
// with two and with eight gateways, other loads, and a crawler that has enough requests for a limit in each of them.
import { readFileSync } from 'node:fs';
import { isProgram } from './is-program.mjs';

/** @typedef {import('../packages/cli/src/simulate/counting/report.ts').SimulationReport} Report */

const SCENARIO = readFileSync(new URL('../docs/compared/gossip.yaml', import.meta.url), 'utf8');
const CRAWLER = '  crawler:\n    arrivals: { rate: 1500, from: 0s, to: 4s }\n';
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
  const { readScenario, simulate } = await import('../packages/cli/src/simulate/index.ts');
  const text = SCENARIO.replace(/^ {2}crawler:\n.*\n/m, CRAWLER).replace(/^(processes|partition|compare):.*\n/gm, '');
  const more = ['compare: [gossip, leased]', `processes: ${gateways}`, fields];
  return simulate(await readScenario([text, ...more, ''].join('\n'), 'gossip.yaml'));
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

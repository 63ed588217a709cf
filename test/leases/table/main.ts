// `npm run trial -- leases-table` prints what follows from an overshoot of 0.1 for some limits and numbers of processes, and what
// simulated processes make of it: one bucket, requests of one token that may wait, and three loads.
import { isLeased } from '../../../packages/redis/src/leases/rules/lease-numbers.ts';
import { numbersOf, type Setting } from '../deployment.ts';
import { resultOf, type Load } from './load.ts';

const TICKS_PER_MS = 16_000;
const OVERSHOOT = 0.1;

const limits = [
  { name: '20/s b20', burst: 20, count: 20, periodMs: 1000 },
  { name: '100/s b200', burst: 200, count: 100, periodMs: 1000 },
  { name: '300/3 h b300', burst: 300, count: 300, periodMs: 3 * 3_600_000 },
  { name: '1000/s b1000', burst: 1000, count: 1000, periodMs: 1000 },
  { name: '80000/s b40000', burst: 40_000, count: 80_000, periodMs: 1000 },
];
const processes = [2, 4, 16, 64];
const loads: readonly Load[] = [
  { name: '0.9 of the rate, skew 5:1', ofRate: 0.9, skew: 5 },
  { name: '2 times the rate, skew 5:1', ofRate: 2, skew: 5 },
  { name: '2 times the rate, even', ofRate: 2, skew: 1 },
];
const COLUMNS =
  'limit, processes, overdraft, lease ms, sync ms, bound (% of burst), over seen, admitted %, calls per 200 ms, waited %';

console.log(`Overshoot ${OVERSHOOT}. Loads, in this order: ${loads.map(({ name }) => name).join(' / ')}.\n`);
printRow(COLUMNS.split(', '));
printRow(COLUMNS.split(', ').map(() => '---'));
for (const { name, ...limit } of limits) {
  for (const gateways of processes) printRow([name, ...cellsOf({ ...limit, overshoot: OVERSHOOT, gateways })]);
}

function cellsOf(setting: Setting): readonly string[] {
  const numbers = numbersOf(setting);
  if (!isLeased(numbers)) return [String(setting.gateways), 'strict', ...Array<string>(7).fill('')];
  const { overdraftTokens, leaseTicks, dueTicks, settleTicks, boundTokens } = numbers;
  const results = loads.map((load) => resultOf(setting, load));
  return [
    String(setting.gateways),
    String(overdraftTokens),
    (leaseTicks / TICKS_PER_MS).toFixed(0),
    ((settleTicks || dueTicks) / TICKS_PER_MS).toFixed(0),
    `${boundTokens} (${((100 * boundTokens) / setting.burst).toFixed(1)})`,
    String(Math.max(...results.map(({ overTokens }) => overTokens))),
    results.map(({ admittedShare }) => (100 * admittedShare).toFixed(1)).join(' / '),
    results.map(({ callsPerGateway }) => callsPerGateway.toFixed(1)).join(' / '),
    results.map(({ waitedShare }) => (100 * waitedShare).toFixed(0)).join(' / '),
  ];
}

function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

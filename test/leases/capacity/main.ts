// `npm run trial -- leases-capacity` prints what simulated processes with leases let through, beside what one shared bucket does, and
// how often a client that obeys Retry-After is denied again.
import { isLeased } from '../../../packages/redis/src/leases/rules/lease-numbers.ts';
import { numbersOf, type Setting } from '../deployment.ts';
import { admittedOf, type Admitted } from './admitted.ts';
import { firstReturnsOf } from './fresh-clients.ts';
import { retriesOf } from './polite-clients.ts';
import { EVEN, MOVING, TRAFFICS, type Traffic } from './traffic.ts';

const PROCESSES = [2, 4, 8];
const OVERSHOOTS = [0.1, 0.5, 1];
const ROUND_TRIPS_MS = [0.5, 10, 20, 40, 80];
const FAR_MS = [10, 20, 30, 40, 80];
const LIMITS = [
  { name: '100/s', burst: 100, count: 100, periodMs: 1000 },
  { name: '1000/s', burst: 1000, count: 1000, periodMs: 1000 },
];
const GAPS_MS = [0, 5, 15, 50];
const RETRY_LIMITS = [
  { name: '300 in 3 h', burst: 300, count: 300, periodMs: 10_800_000 },
  { name: '20 a minute', burst: 20, count: 20, periodMs: 60_000 },
  { name: '60 a minute b100', burst: 100, count: 60, periodMs: 60_000 },
  { name: '1/s', burst: 10, count: 1, periodMs: 1000 },
  { name: '3/s', burst: 10, count: 3, periodMs: 1000 },
  { name: '5/s', burst: 20, count: 5, periodMs: 1000 },
  { name: '10/s', burst: 20, count: 10, periodMs: 1000 },
  { name: '10/s b100', burst: 100, count: 10, periodMs: 1000 },
  { name: '30/s', burst: 60, count: 30, periodMs: 1000 },
  { name: '100/s', burst: 200, count: 100, periodMs: 1000 },
  { name: '1000/s', burst: 1000, count: 1000, periodMs: 1000 },
];

const parts = {
  admitted: () => printAdmitted(),
  'round-trips': () => printRoundTrips(),
  retries: () => printRetries(),
  'first-returns': () => printFirstReturns(),
  'first-returns-far': () => printFarFirstReturns(),
};
const chosen = process.argv.slice(2);
for (const [name, print] of Object.entries(parts)) if (chosen.length === 0 || chosen.includes(name)) print();

function printAdmitted(): void {
  console.log(
    'Admitted, % of one shared bucket (calls of one process in 200 ms; requests that waited, % / that Redis decided, %)\n',
  );
  printRow(['traffic', 'limit', 'N', ...OVERSHOOTS.map((overshoot) => `overshoot ${overshoot}`)]);
  for (const traffic of TRAFFICS) {
    for (const { name, ...limit } of LIMITS) {
      for (const gateways of PROCESSES) {
        const cells = OVERSHOOTS.map((overshoot) => cellOf({ ...limit, overshoot, gateways }, traffic));
        printRow([traffic.name, name, String(gateways), ...cells]);
      }
    }
  }
}

function printRoundTrips(): void {
  console.log('\nAdmitted at a slow network\n');
  printRow(['traffic', 'limit', 'N, overshoot', ...ROUND_TRIPS_MS.map((ms) => `${ms} ms`)]);
  const { name, ...limit } = LIMITS[1]!;
  for (const traffic of [EVEN, TRAFFICS[1]!, MOVING]) {
    for (const gateways of PROCESSES) {
      for (const overshoot of OVERSHOOTS) {
        const cells = ROUND_TRIPS_MS.map((ms) => {
          return cellOf({ ...limit, overshoot, gateways, delayMs: ms / 2, leastDelayMs: ms / 2 }, traffic);
        });
        printRow([traffic.name, name, `${gateways}, ${overshoot}`, ...cells]);
      }
    }
  }
}

function printRetries(): void {
  console.log('\nDenied again, %: after Retry-After in whole seconds / after the exact wait / with a full bucket\n');
  printRow(['limit', 'N', ...OVERSHOOTS.map((overshoot) => `overshoot ${overshoot}`)]);
  for (const { name, ...limit } of RETRY_LIMITS) {
    for (const gateways of PROCESSES) {
      const cells = OVERSHOOTS.map((overshoot) => {
        const setting = { ...limit, overshoot, gateways };
        if (!isLeased(numbersOf(setting))) return 'strict';
        const fullMs = (limit.burst * limit.periodMs) / limit.count;
        const retries = [{}, { isExact: true }, { idleMs: fullMs }].map((manners) => retriesOf(setting, manners));
        return retries.map(({ waits, deniedAgain }) => percent(deniedAgain / waits)).join(' / ');
      });
      printRow([name, String(gateways), ...cells]);
    }
  }
}

function printFirstReturns(): void {
  console.log(
    `\nA full bucket, spent ${GAPS_MS.join(', ')} ms apart: denied at the first return, % / at most so many seconds late\n`,
  );
  printRow(['limit', 'N', ...OVERSHOOTS.map((overshoot) => `overshoot ${overshoot}`)]);
  for (const { name, ...limit } of RETRY_LIMITS.slice(0, -1)) {
    for (const gateways of PROCESSES) {
      const cells = OVERSHOOTS.map((overshoot) => firstReturnsCell({ ...limit, overshoot, gateways }));
      printRow([name, String(gateways), ...cells]);
    }
  }
}

function printFarFirstReturns(): void {
  console.log('\nThe same at a slow network\n');
  printRow(['limit', 'N, overshoot', ...FAR_MS.map((ms) => `${ms} ms`)]);
  for (const { name, ...limit } of RETRY_LIMITS.slice(0, -1)) {
    for (const overshoot of OVERSHOOTS.slice(1)) {
      const cells = FAR_MS.map((ms) => {
        return firstReturnsCell({ ...limit, overshoot, gateways: 4, delayMs: ms / 2, leastDelayMs: ms / 2 });
      });
      printRow([name, `4, ${overshoot}`, ...cells]);
    }
  }
}

function firstReturnsCell(setting: Setting): string {
  if (!isLeased(numbersOf(setting))) return 'strict';
  return GAPS_MS.map((gapMs) => {
    const { returns, deniedAgain, latestMs } = firstReturnsOf(setting, gapMs);
    return returns === 0 ? 'none denied' : `${percent(deniedAgain / returns)} / ${(latestMs / 1000).toFixed(1)}`;
  }).join(', ');
}

function cellOf(setting: Setting, traffic: Traffic): string {
  if (!isLeased(numbersOf(setting)) || traffic.costs[1] > setting.burst) return 'strict';
  return textOf(admittedOf(setting, traffic), traffic);
}

function textOf(
  { share, ofLargeCosts, ofBound, callsPerProcess, waitedShare, exactShare }: Admitted,
  { costs }: Traffic,
): string {
  const large = costs[1] === 1 ? '' : `, large ${percent(ofLargeCosts)}`;
  const beyond = ofBound > 1 ? ` BEYOND THE BOUND: ${ofBound}` : '';
  return `${percent(share)}${large} (${callsPerProcess.toFixed(1)}; ${percent(waitedShare)} / ${percent(exactShare)})${beyond}`;
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

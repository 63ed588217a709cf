// `npm run trial -- leases-bound` counts by how much processes with leases exceed a limit on a real Redis, behind a proxy that makes each
// call slower: 4 processes, a limit of 1,000 a second with an overshoot of 0.1, three times as many requests, all at one
// process, and every 300 ms at another one. It fails if a run is above the bound. Beside the part of the requests that were
// decided at once, without a wait or a call, it prints the most that can be. `--runs 20` makes so many runs in all,
// `--round-trips 30,50` chooses the round trips in milliseconds, `--cores idle` or `--cores busy` one of the two, and `--quick`
// checks in some seconds that it works.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { redisServer } from '../../redis/servers/redis-server.ts';
import { running } from '../../redis/servers/running.ts';
import { tcpProxy } from '../../redis/servers/tcp-proxy.ts';
import { BoundProcesses, busyCores, mostAtOnce, type BoundRun } from './bound-run.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    'round-trips': { type: 'string', default: '0,10,20,30,40,50,60,80' },
    cores: { type: 'string', default: 'idle,busy' },
    quick: { type: 'boolean', default: false },
  },
});
const LASTS_MS = 3000;
const roundTrips = values.quick ? [0, 40] : values['round-trips'].split(',').map(Number);
const cores = values.quick ? ['idle'] : values.cores.split(',');
const runsOfEach = values.quick ? 1 : Math.ceil(Number(values.runs) / (roundTrips.length * cores.length));

const server = await redisServer();
const proxy = await tcpProxy(server);
const all: BoundRun[] = [];
console.log('Runs of 3 s; shares are the means of the runs, with the lowest one.\n');
printRow([
  'round trip',
  'cores',
  'runs',
  'above',
  'exceeded by, worst',
  'bound',
  'admitted, %',
  'by leases, %',
  'waited, %',
  'at once, %',
  'at once at most, %',
  'unavailable',
]);
printRow(Array.from({ length: 12 }, () => '---'));
for (const each of cores) {
  for (const roundTripMs of roundTrips) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, so that none disturbs another
    const runs = await runsAt(roundTripMs, each === 'busy');
    all.push(...runs);
    printRow([`${roundTripMs} ms`, each, ...cellsOf(runs, roundTripMs)]);
  }
}
await running.closeAllBut();
const above = all.filter(isAbove).length;
const good = all.filter(({ admittedShare, leasedShare }) => admittedShare >= 0.95 && leasedShare >= 0.9).length;
console.log(
  `\n${all.length} runs, ${above} above the bound; ${good} let 95 % through and decided 90 % by leases, in the same run`,
);
process.exit(above === 0 && all.length > 0 ? 0 : 1);

async function runsAt(roundTripMs: number, isBusy: boolean): Promise<readonly BoundRun[]> {
  proxy.delay(roundTripMs);
  const processes = await BoundProcesses.start(proxy.url);
  const busy = busyCores(isBusy ? availableParallelism() : 0);
  const runs: BoundRun[] = [];
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  while (runs.length < runsOfEach) runs.push(await processes.run(LASTS_MS));
  await Promise.all([processes.end(), busy.end()]);
  return runs;
}

function isAbove({ exceeded, bound }: BoundRun): boolean {
  return exceeded > bound;
}

function cellsOf(runs: readonly BoundRun[], roundTripMs: number): readonly string[] {
  const shares = (of: (run: BoundRun) => number): string => {
    const each = runs.map((run) => 100 * of(run));
    const mean = each.reduce((sum, share) => sum + share, 0) / each.length;
    return `${mean.toFixed(1)} (${Math.min(...each).toFixed(1)})`;
  };
  return [
    String(runs.length),
    String(runs.filter(isAbove).length),
    Math.max(...runs.map(({ exceeded }) => exceeded)).toFixed(0),
    String(runs[0]!.bound),
    shares(({ admittedShare }) => admittedShare),
    shares(({ leasedShare }) => leasedShare),
    shares(({ waitedShare }) => waitedShare),
    shares(({ leasedShare, waitedShare }) => Math.max(0, leasedShare - waitedShare)),
    (100 * mostAtOnce(roundTripMs, runs[0]!.overdraft)).toFixed(1),
    String(runs.reduce((sum, { unavailable }) => sum + unavailable, 0)),
  ];
}

function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}

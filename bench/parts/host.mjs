import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VisitOrder } from '../ids.mjs';
import { overHost } from '../contenders/over-host.mjs';
import { flexibleCluster } from '../host/flexible-cluster.mjs';
import { forked } from '../harness/processes.mjs';
import { decideEach, measuredTurn } from '../redis/in-flight.mjs';
import { tenths, times, whole, withSpread } from '../harness/table.mjs';

const CORE = { server: 0, client: 1 };
const IDS = 10_000;
const SERVER = new URL('../host/server.mjs', import.meta.url);

const WARM_UP_DECISIONS = 50_000;

const PEER = 'rate-limiter-flexible';
/** With many in flight, the peer is measured in turns that take about as long as ours. */
const PEER_DECISIONS = 0.1;

/**
 * How many decisions are asked for at a time, how many a turn has, and the target.
 *
 * @type {Readonly<Record<string, { inFlight: number, decisions: number, target: string }>>}
 */
const CASES = {
  '1 in flight': { inFlight: 1, decisions: 1000, target: '≤ 60 µs each' },
  '64 in flight': { inFlight: 64, decisions: 50_000, target: '≥ 400,000' },
  '512 in flight': { inFlight: 512, decisions: 50_000, target: '' },
};

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'host: decisions per second of a process that asks another one of the same host',
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 16),
  runs: ({ quick }) =>
    Object.entries(CASES).flatMap(([name, { decisions, inFlight }]) =>
      [...Object.keys(overHost), PEER].map((contender) => {
        const share = contender === PEER && inFlight > 1 ? PEER_DECISIONS : 1;
        return {
          contender,
          case: name,
          core: CORE.client,
          settings: quick
            ? { decisions: (decisions * share) / 10, ids: IDS / 100, warmUp: 100 }
            : { decisions: decisions * share, ids: IDS, warmUp: WARM_UP_DECISIONS * share },
        };
      }),
    ),
  prepare,
  counts: { cases: ['1 in flight', '64 in flight'], figures: { wireBytes: 0.1 } },
  tables: (results) => Object.keys(CASES).map((name) => tableOf(results, name)),
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, case: name, settings = {} }) {
  const { decisions, ids, warmUp } = /** @type {{ decisions: number, ids: number, warmUp: number }} */ (settings);
  const { inFlight } = /** @type {typeof CASES[string]} */ (CASES[name]);
  if (contender === PEER) return flexibleCluster({ ids, warmUp, decisions, inFlight }, CORE.server);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const socket = join(folder, 'limits.sock');
  const server = forked(SERVER, [socket], { core: CORE.server });
  server.stderr?.pipe(process.stderr);
  process.once('exit', () => {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await once(server, 'message');
  const decide = await overHost[contender]?.(socket);
  if (decide === undefined) throw new Error(`No contender is named ${contender}.`);
  const order = new VisitOrder(ids);
  await decideEach(decide, order.next(warmUp), inFlight);
  return () => measuredTurn(decide, order, { decisions, inFlight });
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {string} name
 */
function tableOf(results, name) {
  const rows = results.contenders.map((contender) => [
    contender,
    withSpread(results.figure(contender, name, 'decisionsPerSecond'), whole),
    withSpread(results.ratio(contender, PEER, name, 'decisionsPerSecond'), times),
    withSpread(results.figure(contender, name, 'decisionMicros'), tenths),
    withSpread(results.figure(contender, name, 'clientCpuMicros'), tenths),
  ]);
  return {
    title: name,
    rows: [
      ['', 'decisions per second', `× ${PEER}`, 'µs each', 'client CPU µs'],
      ...rows,
      ['target for Sluice', /** @type {typeof CASES[string]} */ (CASES[name]).target, '', '', ''],
    ],
  };
}

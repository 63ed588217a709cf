import { overPostgres } from '../contenders/over-postgres.mjs';
import { VisitOrder } from '../ids.mjs';
import { startPostgres } from '../postgres/server.mjs';
import { decideEach, measuredTurn } from '../redis/in-flight.mjs';
import { tenths, times, whole, withSpread } from '../harness/table.mjs';

const CORE = { postgres: 0, client: 1 };
const HOUR_MS = 3_600_000;
const RATE = { burst: 1_000_000, intervalMs: 60_000, windowMs: HOUR_MS };
const IDS = 10_000;
const PEER = 'rate-limiter-flexible';

/**
 * How many decisions are asked for at a time, how many a turn has, and the target.
 *
 * @type {Readonly<Record<string, { inFlight: number, decisions: number, target: string }>>}
 */
const CASES = {
  '1 in flight': { inFlight: 1, decisions: 300, target: '' },
  '64 in flight': { inFlight: 64, decisions: 5000, target: '≥ 8,000' },
};

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'postgres: decisions per second of one process through PostgreSQL',
  rounds: 5,
  turns: ({ quick }) => (quick ? 1 : 8),
  runs: ({ quick }) =>
    Object.entries(CASES).flatMap(([name, { decisions }]) =>
      Object.keys(overPostgres).map((contender) => ({
        contender,
        case: name,
        core: CORE.client,
        settings: quick
          ? { decisions: decisions / 10, ids: IDS / 100, warmUp: 100 }
          : { decisions, ids: IDS, warmUp: 2 * IDS },
      })),
    ),
  prepare,
  counts: { cases: Object.keys(CASES), figures: { wireBytes: 0.1 } },
  tables: (results) => Object.keys(CASES).map((name) => tableOf(results, name)),
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, case: name, settings = {} }) {
  const { decisions, ids, warmUp } = /** @type {{ decisions: number, ids: number, warmUp: number }} */ (settings);
  const { inFlight } = /** @type {typeof CASES[string]} */ (CASES[name]);
  const decide = await overPostgres[contender]?.(await startPostgres({ core: CORE.postgres }), RATE);
  if (decide === undefined) throw new Error(`No contender is named ${contender}.`);
  const order = new VisitOrder(ids);
  await decideEach(decide, order.next(warmUp), 64);
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
    withSpread(results.figure(contender, name, 'decisionMicros'), whole),
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

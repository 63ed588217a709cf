import { setTimeout as delay } from 'node:timers/promises';
import { idsOf, VisitOrder } from '../ids.mjs';
import { times, whole, withSpread } from '../harness/table.mjs';
import { Stopwatch } from '../stopwatch.mjs';
import { BASELINE, CONTENDERS, CORE, deciderOf } from './stores.mjs';

/**
 * @typedef {import('@sluice/core').Store} Store
 * @typedef {import('@sluice/core/store').StoreReading} StoreReading
 * @typedef {readonly import('@sluice/core/store').StoreTransaction[]} Batch
 */

const TARGET = 1.5;
const DEADLINE_MS = 1000;

/** So many decisions are made in a turn of the event loop. Between turns there is time for syncs. */
const PER_TURN = 1000;

/** How many more turns there may be in which the process has to ask Redis. */
const MOST_UNTIMED = 50;

/** A small service has as many: each has an overdraft, from which it decides until its leases come. */
const GATEWAYS = 4;

/**
 * The numbers let through as much as the process decides. In memory, a bucket stays in debt as buckets with leases do.
 *
 * @type {Readonly<Record<string, { ids: number, leased: object, inMemory: object }>>}
 */
const IDS = {
  '1 id': {
    ids: 1,
    leased: { burst: 10_000_000, count: 4_000_000, period: '1s', overshoot: 0.5 },
    inMemory: { burst: 100_000_000, count: 1, period: '1s' },
  },
  '2k ids': {
    ids: 2000,
    leased: { burst: 100_000, count: 64_000, period: '1s', overshoot: 0.5 },
    inMemory: { burst: 1_000_000, count: 1, period: '60s' },
  },
};

const WAYS = ['the store alone', 'through the limiter'];
const CASES = WAYS.flatMap((way) => Object.keys(IDS).map((ids) => ({ name: `${way}, ${ids}`, way, ids })));

/** What a decision in the process costs, from its leases and its overdraft. */
/** @type {import('../harness/measured.ts').Measured} */
export const decisions = {
  runs: ({ quick }) =>
    CASES.flatMap(({ name, way, ids }) =>
      CONTENDERS.map((contender) => ({
        contender,
        case: name,
        core: CORE.client,
        settings: { way, ids, turns: quick ? 200 : 1000, warmUp: quick ? 500 : 1500 },
      })),
    ),
  prepare,
  tables: (results) => [tableOf(results)],
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, settings = {} }) {
  const { way, ids, turns, warmUp } = /** @type {{ way: string, ids: string, turns: number, warmUp: number }} */ (
    settings
  );
  const { ids: count, leased, inMemory } = /** @type {typeof IDS[string]} */ (IDS[ids]);
  const numbers = /** @type {import('@sluice/core').Rate} */ (contender === BASELINE ? inMemory : leased);
  const { limiter, store } = await deciderOf(contender, numbers, GATEWAYS);
  const all = Array.from({ length: count }, (_, n) => idsOf['account ids'](n));
  const batches = all.map((id) => batchOf(limiter, store, id));
  const spend = (/** @type {number} */ n) =>
    store.run({ kind: 'spend', alternatives: [/** @type {Batch} */ (batches[n])] }, DEADLINE_MS);
  const decide =
    way === WAYS[0] ? spend : (/** @type {number} */ n) => limiter.spend([{ limit: 'Calls', id: String(all[n]) }]);
  const order = new VisitOrder(count);
  const isQuick = (/** @type {number | undefined} */ n) => contender === BASELINE || isInProcess(spend(Number(n)));
  const time = async (/** @type {number} */ lasts) => {
    let cpuMicros = 0;
    let timed = 0;
    for (let turn = 0; timed < lasts; turn++) {
      if (turn > MOST_UNTIMED * lasts) throw new Error(`Of ${turn} turns, only ${timed} were decided in the process.`);
      const visits = order.next(PER_TURN);
      const watch = new Stopwatch();
      const wasQuick = isQuick(visits[0]);
      watch.start();
      for (let i = 0; i < PER_TURN; i++) void decide(/** @type {number} */ (visits[i]));
      watch.stop();
      if (wasQuick && isQuick(visits.at(-1))) {
        timed++;
        cpuMicros += watch.times.cpuMicros;
      }
      // oxlint-disable-next-line no-await-in-loop
      await delay(1);
    }
    return (cpuMicros * 1000) / (lasts * PER_TURN);
  };
  await time(warmUp);
  return async () => ({ nanoseconds: await time(turns) });
}

/**
 * The batch that a limiter passes to its store for an id.
 *
 * @param {import('@sluice/core').Limiter} limiter
 * @param {Store} store
 * @param {string} id
 * @returns {Batch}
 */
function batchOf(limiter, store, id) {
  /** @type {Batch | undefined} */
  let passed;
  const run = store.run.bind(store);
  const take = store.take?.bind(store);
  /** @type {Pick<Store, 'run' | 'take'>} */
  const caught = {
    run(operation) {
      if ('alternatives' in operation) passed = operation.alternatives.flat();
      return run(operation, DEADLINE_MS);
    },
    take(batch, reading) {
      passed = batch;
      take?.(batch, reading);
    },
  };
  Object.assign(store, caught);
  void limiter.spend([{ limit: 'Calls', id }]);
  Reflect.deleteProperty(store, 'run');
  Reflect.deleteProperty(store, 'take');
  if (passed === undefined) throw new Error('The limiter has not asked its store.');
  return passed;
}

/**
 * Whether a store has decided without asking Redis.
 *
 * @param {StoreReading | PromiseLike<StoreReading>} reading
 */
function isInProcess(reading) {
  return 'levelsTicks' in reading;
}

/** @param {import('../harness/results.mjs').Results} results */
function tableOf(results) {
  const rows = CONTENDERS.map((contender) => [
    contender,
    ...CASES.map(({ name }) => {
      const ratio = results.ratio(contender, BASELINE, name, 'nanoseconds');
      return `${withSpread(results.figure(contender, name, 'nanoseconds'), whole)}  ${withSpread(ratio, times)}`;
    }),
  ]);
  return {
    title: `A decision in the process: ns of processor time, and × the ${BASELINE}`,
    rows: [
      ['', ...CASES.map(({ name }) => name)],
      ...rows,
      ['target for Sluice', ...CASES.map(() => `≤ ${times(TARGET)}`)],
    ],
    notes: ['Without the syncs, which are made between turns of the event loop.'],
  };
}

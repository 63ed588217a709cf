import { wireBytes } from '../harness/wire.mjs';
import { cpuMicrosOf } from '../redis/cpu.mjs';
import { RedisServer } from '../redis/server.mjs';
import { times, withSpread } from '../harness/table.mjs';
import { syncs } from './sync-scripts.mjs';

const CORE = { redis: 0, client: 1 };
const BASELINE = 'the smallest right script';
const TARGET = 1.5;
const LEAD_IN = 0.2;
const KEYS = 10_000;
const IN_FLIGHT = 4;

/** How many buckets a sync has. */
const CASES = { '1 key': 1, '50 keys': 50, '250 keys': 250 };

/** What the sync of a bucket costs Redis. */
/** @type {import('../harness/measured.ts').Measured} */
export const syncsInRedis = {
  runs: ({ quick }) =>
    Object.keys(CASES).flatMap((name) =>
      Object.keys(syncs).map((contender) => ({
        contender,
        case: name,
        core: CORE.client,
        settings: { buckets: quick ? 1000 : name === '1 key' ? 10_000 : 50_000 },
      })),
    ),
  prepare,
  tables: (results) => Object.keys(CASES).map((name) => tableOf(results, name)),
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Measure>}
 */
async function prepare({ contender, case: name, settings = {} }) {
  const { buckets } = /** @type {{ buckets: number }} */ (settings);
  const size = CASES[/** @type {keyof typeof CASES} */ (name)];
  const server = await RedisServer.start({ core: CORE.redis });
  const watcher = server.connect();
  const sync = await syncs[contender]?.(server.connect());
  if (sync === undefined) throw new Error(`No contender is named ${contender}.`);
  let next = 0;
  const syncSome = async (/** @type {number} */ count) => {
    let left = Math.ceil(count / size);
    const one = async () => {
      while (left-- > 0) {
        const keys = Array.from({ length: size }, () => `bucket:${next++ % KEYS}`);
        // oxlint-disable-next-line no-await-in-loop
        await sync(keys);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, one));
  };
  await syncSome(2 * KEYS);
  return async () => {
    // The processors' caches are still those of the others.
    await syncSome(buckets * LEAD_IN);
    const before = await sample(watcher);
    const sent = wireBytes();
    await syncSome(buckets);
    const received = wireBytes();
    const after = await sample(watcher);
    return {
      redisCpuMicros: (after.cpuMicros - before.cpuMicros) / buckets,
      scriptMicros: (after.scriptMicros - before.scriptMicros) / buckets,
      wireBytes: (received - sent) / buckets,
    };
  };
}

/**
 * The processor time of Redis, and the part of it in scripts.
 *
 * @param {import('ioredis').Redis} client
 */
async function sample(client) {
  const cpuMicros = await cpuMicrosOf(client);
  const [, micros] = /^cmdstat_evalsha:calls=\d+,usec=(\d+)/m.exec(await client.info('commandstats')) ?? [];
  return { cpuMicros, scriptMicros: Number(micros ?? NaN) };
}

/**
 * @param {import('../harness/results.mjs').Results} results
 * @param {string} name
 */
function tableOf(results, name) {
  const hundredths = (/** @type {number} */ value) => value.toFixed(2);
  const rows = Object.keys(syncs).map((contender) => [
    contender,
    withSpread(results.figure(contender, name, 'redisCpuMicros'), hundredths),
    withSpread(results.ratio(contender, BASELINE, name, 'redisCpuMicros'), times),
    withSpread(results.figure(contender, name, 'scriptMicros'), hundredths),
    withSpread(results.ratio(contender, BASELINE, name, 'scriptMicros'), times),
  ]);
  return {
    title: `${name} a sync`,
    rows: [
      ['', 'Redis CPU µs a key', 'ratio', 'script µs a key', 'ratio'],
      ...rows,
      ['target for Sluice', '', `≤ ${times(TARGET)}`, '', ''],
    ],
  };
}

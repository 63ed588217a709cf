import { tenths, whole, withSpread } from '../harness/table.mjs';
import { SLUICE } from './contenders.mjs';
import { IDS, LOAD_CORE, ServerUnderLoad } from './server-under-load.mjs';

const INTERVAL_MS = 200;
const CALLS_TARGET = 2;
const PER_SECOND = 5000;
/** How many ids are asked for in turn, by case. Of the last, each check of an interval asks for another one. */
const CASES = { 'leases of 100 ids': 100, 'leases of 250 ids': 250, [`leases of ${whole(IDS)} ids`]: IDS };

/**
 * How often a service with leases calls Redis, when its buckets are known.
 *
 * @type {import('../harness/measured.ts').Measured}
 */
export const leased = {
  runs: ({ quick }) =>
    Object.entries(CASES).map(([name, ids]) => ({
      contender: SLUICE,
      case: name,
      core: LOAD_CORE,
      settings: { ids, turnMs: 1000, warmUps: quick ? 1 : 4 },
    })),
  async prepare({ contender, settings = {} }) {
    const { ids, turnMs, warmUps } = /** @type {{ ids: number, turnMs: number, warmUps: number }} */ (settings);
    const server = await ServerUnderLoad.start(contender, { redisCore: LOAD_CORE, ids });
    const load = () => server.load.atRate(turnMs, PER_SECOND);
    // oxlint-disable-next-line no-await-in-loop
    for (let i = 0; i < warmUps; i++) await load();
    return async () => {
      const { answers, seconds, serverCpuMicros, redisCalls, redisWrites } = await server.during(load);
      const intervals = (1000 * seconds) / INTERVAL_MS;
      return {
        checksPerSecond: answers / seconds,
        callsPerInterval: redisCalls / intervals,
        // The tokens of one bucket are charged by syncs.
        writesPerInterval: (redisWrites - redisCalls) / intervals / Math.min(ids, answers / intervals),
        serverCpuMicros: serverCpuMicros / answers,
      };
    };
  },
  tables: (results) => [
    {
      title: `With leases: calls of Redis, ${whole(PER_SECOND)} checks a second`,
      rows: [
        ['', `ids in ${INTERVAL_MS} ms`, `calls in ${INTERVAL_MS} ms`, 'CPU µs', 'per second'],
        ...Object.entries(CASES).map(([name, ids]) => [
          name,
          whole(Math.min(ids, (PER_SECOND * INTERVAL_MS) / 1000)),
          withSpread(results.figure(SLUICE, name, 'callsPerInterval'), tenths),
          withSpread(results.figure(SLUICE, name, 'serverCpuMicros'), tenths),
          withSpread(results.figure(SLUICE, name, 'checksPerSecond'), whole),
        ]),
        [`target for up to 250 ids`, '', `≤ ${CALLS_TARGET}`, '', ''],
      ],
      notes: [
        'One call syncs up to 250 buckets. A bucket that its overdraft pays for is synced every 175 to 200 ms while it is used.',
      ],
    },
  ],
};

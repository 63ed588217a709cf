import { tenths, whole, withSpread } from '../harness/table.mjs';
import { SLUICE } from './contenders.mjs';
import { LOAD_CORE, ServerUnderLoad } from './server-under-load.mjs';

const CASE = 'leases';
const INTERVAL_MS = 200;
const CALLS_TARGET = 2;
const PER_SECOND = 5000;

/**
 * How often a service with leases calls Redis, when its buckets are known.
 *
 * @type {import('../harness/measured.ts').Measured}
 */
export const leased = {
  runs: ({ quick }) => [
    {
      contender: SLUICE,
      case: CASE,
      core: LOAD_CORE,
      settings: { turnMs: quick ? 300 : 1000, warmUps: quick ? 1 : 4 },
    },
  ],
  async prepare({ contender, settings = {} }) {
    const { turnMs, warmUps } = /** @type {{ turnMs: number, warmUps: number }} */ (settings);
    const server = await ServerUnderLoad.start(contender, [String(LOAD_CORE)]);
    const load = () => server.load.atRate(turnMs, PER_SECOND);
    // oxlint-disable-next-line no-await-in-loop
    for (let i = 0; i < warmUps; i++) await load();
    return async () => {
      const { answers, seconds, serverCpuMicros, redisCalls } = await server.during(load);
      return {
        checksPerSecond: answers / seconds,
        callsPerInterval: (redisCalls * INTERVAL_MS) / (1000 * seconds),
        serverCpuMicros: serverCpuMicros / answers,
      };
    };
  },
  tables: (results) => [
    {
      title: `With leases: calls of Redis, ${whole(PER_SECOND)} checks a second`,
      rows: [
        ['', `calls in ${INTERVAL_MS} ms`, 'CPU µs', 'per second'],
        [
          SLUICE,
          withSpread(results.figure(SLUICE, CASE, 'callsPerInterval'), tenths),
          withSpread(results.figure(SLUICE, CASE, 'serverCpuMicros'), tenths),
          withSpread(results.figure(SLUICE, CASE, 'checksPerSecond'), whole),
        ],
        [`target for ${SLUICE}`, `≤ ${CALLS_TARGET}`, '', ''],
      ],
    },
  ],
};

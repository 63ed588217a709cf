import { tenths, whole, withSpread } from '../harness/table.mjs';
import { FIXED_FRAME, SLUICE } from './contenders.mjs';
import { LOAD_CORE, ServerUnderLoad } from './server-under-load.mjs';

const CASE = '70 % of a core';
const SHARE = 0.7;
const P99_TARGET_MS = 20;
/** The first guess, and how often it is corrected by what the server needed. */
const FIRST_PER_SECOND = 5000;
const CORRECTIONS = 4;

/**
 * How long answers take while the server uses 70 % of a core.
 *
 * @type {import('../harness/measured.ts').Measured}
 */
export const waits = {
  runs: ({ quick }) =>
    [FIXED_FRAME, SLUICE].map((contender) => ({
      contender,
      case: CASE,
      core: LOAD_CORE,
      settings: { turnMs: quick ? 200 : 1000 },
    })),
  async prepare({ contender, settings = {} }) {
    const { turnMs } = /** @type {{ turnMs: number }} */ (settings);
    const server = await ServerUnderLoad.start(contender);
    let perSecond = FIRST_PER_SECOND;
    for (let i = 0; i < CORRECTIONS; i++) {
      // oxlint-disable-next-line no-await-in-loop
      const work = await server.during(() => server.load.atRate(turnMs, perSecond));
      perSecond = (SHARE * 1e6 * work.answers) / work.serverCpuMicros;
    }
    return async () => {
      /** @type {number[]} */
      let tookMs = [];
      const { seconds, answers, serverCpuMicros } = await server.during(async () => {
        tookMs = await server.load.atRate(turnMs, perSecond);
      });
      tookMs.sort((one, other) => one - other);
      return {
        checksPerSecond: answers / seconds,
        serverBusy: serverCpuMicros / 1e6 / seconds,
        p50Ms: quantile(tookMs, 0.5),
        p99Ms: quantile(tookMs, 0.99),
        longestMs: quantile(tookMs, 1),
      };
    };
  },
  tables: (results) => [
    {
      title: `The time of an answer at ${CASE}, ms`,
      rows: [
        ['', 'p50', 'p99', 'longest', 'core %', 'per second'],
        ...[FIXED_FRAME, SLUICE].map((contender) => [
          contender,
          ...['p50Ms', 'p99Ms', 'longestMs'].map((name) => withSpread(results.figure(contender, CASE, name), tenths)),
          withSpread(results.figure(contender, CASE, 'serverBusy'), (share) => whole(100 * share)),
          withSpread(results.figure(contender, CASE, 'checksPerSecond'), whole),
        ]),
        [`target for ${SLUICE}`, '', `≤ ${P99_TARGET_MS}`, '', '', ''],
      ],
      notes: [
        'From the moment at which a call was due. Calls are made every millisecond, those that are due together.',
      ],
    },
  ],
};

/**
 * @param {readonly number[]} sorted
 * @param {number} share
 */
function quantile(sorted, share) {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

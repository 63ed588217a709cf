import { tenths, times, whole, withSpread } from '../harness/table.mjs';
import { CONTENDERS, FIXED_FRAME, GRPC_JS, SLUICE } from './contenders.mjs';
import { LOAD_CORE, ServerUnderLoad } from './server-under-load.mjs';

const CASE = 'checks';
/** What share of a turn comes before the part of it that is measured. */
const LEAD_IN = 0.2;
const IN_PROGRESS = 16;
const TARGETS = { fixedFrame: 1.5, grpcJs: 0.5 };

/**
 * The processor time of a check while the server is busy.
 *
 * @type {import('../harness/measured.ts').Measured}
 */
export const checks = {
  runs: ({ quick }) =>
    CONTENDERS.map((contender) => ({
      contender,
      case: CASE,
      core: LOAD_CORE,
      settings: { warmUpAnswers: quick ? 500 : 20_000, turnMs: quick ? 50 : 200 },
    })),
  async prepare({ contender, settings = {} }) {
    const { warmUpAnswers, turnMs } = /** @type {{ warmUpAnswers: number, turnMs: number }} */ (settings);
    const server = await ServerUnderLoad.start(contender);
    const { load } = server;
    // oxlint-disable-next-line no-await-in-loop
    while (load.answers < warmUpAnswers) await load.busy(turnMs, IN_PROGRESS);
    return async () => {
      // The processors' caches are still those of the others.
      await load.busy(turnMs * LEAD_IN, IN_PROGRESS);
      const { answers, seconds, serverCpuMicros, loadCpuMicros, wireBytes } = await server.during(() =>
        load.busy(turnMs, IN_PROGRESS),
      );
      return {
        checksPerSecond: answers / seconds,
        serverCpuMicros: serverCpuMicros / answers,
        callBytes: wireBytes / answers,
        loadBusy: loadCpuMicros / 1e6 / seconds,
      };
    };
  },
  tables: (results) => [
    {
      title: `Processor time of a check, ${IN_PROGRESS} in progress on each connection`,
      rows: [
        ['', 'CPU µs', '÷ fixed frame', '÷ grpc-js', 'per second', 'load busy %'],
        ...CONTENDERS.map((contender) => [
          contender,
          withSpread(results.figure(contender, CASE, 'serverCpuMicros'), tenths),
          withSpread(results.ratio(contender, FIXED_FRAME, CASE, 'serverCpuMicros'), times),
          withSpread(results.ratio(contender, GRPC_JS, CASE, 'serverCpuMicros'), times),
          withSpread(results.figure(contender, CASE, 'checksPerSecond'), whole),
          withSpread(results.figure(contender, CASE, 'loadBusy'), (share) => whole(100 * share)),
        ]),
        [`target for ${SLUICE}`, '', `≤ ${times(TARGETS.fixedFrame)}`, `≤ ${times(TARGETS.grpcJs)}`, '', ''],
      ],
      notes: ['The fixed frame and grpc-js decide nothing. Sluice decides by one rate on the memory store.'],
    },
  ],
};

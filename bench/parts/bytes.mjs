import { contenderNamed, inMemory } from '../contenders/in-memory.mjs';
import { freshId, idsOf } from '../ids.mjs';
import { whole, withSpread } from '../harness/table.mjs';

/** @typedef {keyof typeof idsOf} Kind */

const KINDS = /** @type {Kind[]} */ (Object.keys(idsOf));
const TARGET_BYTES = 40;
const HOUR_MS = 3_600_000;
const RATE = { burst: 1000, intervalMs: HOUR_MS, windowMs: HOUR_MS };

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'bytes: memory per id',
  rounds: 5,
  turns: () => 1,
  runs: ({ quick }) =>
    KINDS.flatMap((kind) =>
      Object.keys(inMemory).map((contender) => ({
        contender,
        case: kind,
        settings: { ids: quick ? 100_000 : 1_000_000 },
      })),
    ),
  prepare: async (run) => () => measure(run),
  counts: { cases: KINDS, figures: { heapBytes: 0.1 } },
  tables: (results) => [tableOf(results)],
};

/**
 * @param {import('../harness/part.ts').Run} run
 * @returns {Promise<import('../harness/part.ts').Figures>}
 */
async function measure({ contender, case: kind, settings = {} }) {
  const { ids } = /** @type {{ ids: number }} */ (settings);
  const decider = contenderNamed(contender).decider({ rate: RATE, limits: 1, maxKeys: ids });
  await decider.decide(freshId('account ids', ids));
  const before = used();
  for (let n = 0; n < ids; n++) {
    // oxlint-disable-next-line no-await-in-loop
    await decider.decide(freshId(/** @type {Kind} */ (kind), n));
  }
  const after = used();
  // Still in use: otherwise it could be collected before it was measured.
  await decider.decide(freshId(/** @type {Kind} */ (kind), 0));
  return { heapBytes: (after.heap - before.heap) / ids, residentBytes: (after.resident - before.resident) / ids };
}

/** What is in use once all garbage is gone: V8's heap and what it keeps outside of it, and the process as a whole. */
function used() {
  for (let times = 0; times < 3; times++) globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss };
}

/** @param {import('../harness/results.mjs').Results} results */
function tableOf(results) {
  const rows = results.contenders.map((contender) => [
    contender,
    ...KINDS.flatMap((kind) => [
      withSpread(results.figure(contender, kind, 'heapBytes'), whole),
      withSpread(results.figure(contender, kind, 'residentBytes'), whole),
    ]),
  ]);
  return {
    title: 'Bytes per id at 1M ids in debt, the ids themselves included: heap and external, and resident set',
    rows: [
      ['', ...KINDS.flatMap((kind) => [kind, 'resident'])],
      ...rows,
      ['target for Sluice', ...KINDS.flatMap(() => [`≤ ${TARGET_BYTES}`, ''])],
    ],
  };
}

import { contenderNamed, inMemory } from '../contenders/in-memory.mjs';
import { UNCOMPILED } from '../harness/allocated.mjs';
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
        settings: quick ? { idsBefore: 100_000, ids: 100_000 } : { idsBefore: 1, ids: 1_000_000 },
        // Compiled code is memory in use, too, and how much of it there is depends on the load of the machine.
        nodeOptions: quick ? UNCOMPILED : [],
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
  const { idsBefore, ids } = /** @type {{ idsBefore: number, ids: number }} */ (settings);
  // What a process keeps of its first decisions and events, however many ids there are, counts for few ids: it is kept before.
  const others = await filled(idsBefore);
  const measured = await filled(ids);
  // Still in use: otherwise they could be collected before they were measured.
  for (const { decider } of [others, measured]) decider.decide(freshId(/** @type {Kind} */ (kind), 0));
  return measured.figures;

  /** @param {number} maxKeys */
  async function filled(maxKeys) {
    const decider = contenderNamed(contender).decider({ rate: RATE, limits: 1, maxKeys });
    await decider.decide(freshId('account ids', maxKeys));
    const before = used();
    for (let n = 0; n < maxKeys; n++) {
      // oxlint-disable-next-line no-await-in-loop
      await decider.decide(freshId(/** @type {Kind} */ (kind), n));
    }
    const after = used();
    const figures = {
      heapBytes: (after.heap - before.heap) / maxKeys,
      residentBytes: (after.resident - before.resident) / maxKeys,
    };
    return { decider, figures };
  }
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

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { loadLimits } from '@sluice/config';
import { accountId, ipAddress, OverrideList } from '@sluice/core';
import { allocatedBytes, UNCOMPILED } from '../harness/allocated.mjs';
import { tenths, whole, withSpread } from '../harness/table.mjs';

const NUMBERS = { count: 600, period: '180m' };
const FIELDS = '    burst: 300\n    count: 600\n    period: 180m\n    ids:\n';
const HEAD = `- PerAccount:\n${FIELDS}`;

/** A file of overrides, and the file of ids that it names. @typedef {{ overrides: string, ids?: string }} Files */

/** Files of overrides for some ids. @type {Readonly<Record<string, (ids: number[]) => Files>>} */
const FILES = {
  'ids alone, one a line': (ids) => ({
    overrides: `${HEAD.trimEnd()} ids.txt\n`,
    ids: ids.map((id) => `${id}\n`).join(''),
  }),
  'JSON: ids alone': (ids) => json([{ PerAccount: { burst: 300, ...NUMBERS, ids } }]),
  'JSON: an override for each id': (ids) => json(ids.map((id) => ({ PerAccount: { ...NUMBERS, ids: [id] } }))),
};

/** @param {unknown} value */
function json(value) {
  return { overrides: JSON.stringify(value) };
}

/** The most YAML that is read, in the shape that takes longest for each byte: short overrides of one id each. */
const LARGEST = '256 KiB of YAML: an override for each id';
const LARGEST_BYTES = 262_144;

const LOOKUPS = ['exact ids', 'addresses in 10,000 networks'];
const TARGETS = { loadMs: 3000, growthMb: 200, stallMs: 20, lookupNs: [200, 1000] };

/** @type {import('../harness/part.ts').Part} */
export const part = {
  title: 'config: limits as files',
  rounds: 5,
  turns: () => 1,
  runs: ({ quick }) =>
    [...Object.keys(FILES), LARGEST, ...LOOKUPS].map((name) => ({
      contender: 'Sluice',
      case: name,
      nodeOptions: quick ? UNCOMPILED : [],
      settings: { ids: quick ? 10_000 : 100_000, lookups: quick ? 100_000 : 2_000_000, quick },
    })),
  prepare: async ({ case: name, settings = {} }) => {
    const { ids, lookups, quick } = /** @type {{ ids: number, lookups: number, quick: boolean }} */ (settings);
    if (LOOKUPS.includes(name)) return () => lookedUp(name, ids, lookups, quick);
    const files = name === LARGEST ? largest() : filesOf(name, ids);
    // What is kept of the first load includes the program.
    if (quick) await loaded(files, ids);
    return () => loaded(files, ids);
  },
  counts: { cases: ['ids alone, one a line', ...LOOKUPS], figures: { keptBytes: 0.1, allocatedBytes: 0.2 } },
  tables: (results) => [loadTable(results), lookupTable(results)],
};

/**
 * @param {string} name one of {@link FILES}
 * @param {number} count of ids
 */
function filesOf(name, count) {
  const ids = Array.from({ length: count }, (_, n) => 10_000_000 + 7 * n);
  return /** @type {typeof FILES[string]} */ (FILES[name])(ids);
}

/** @returns {Files} */
function largest() {
  let overrides = '';
  for (let id = 1; overrides.length < LARGEST_BYTES - 64; id++)
    overrides += `- PerAccount: {count: 6, period: 1s, ids: [${id}]}\n`;
  return { overrides };
}

/**
 * Loads a file: for how long, how much memory the process grows by meanwhile, and for how long the event loop waits at
 * most.
 *
 * @param {Files} files
 * @param {number} ids
 */
async function loaded(files, ids) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const overrides = join(folder, 'overrides.yaml');
  writeFileSync(overrides, files.overrides);
  if (files.ids !== undefined) writeFileSync(join(folder, 'ids.txt'), files.ids);
  globalThis.gc?.();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const before = process.memoryUsage();
  let mostBytes = before.rss;
  const watch = setInterval(() => (mostBytes = Math.max(mostBytes, process.memoryUsage.rss())), 10);
  const startMs = performance.now();
  delay.enable();
  const { overrides: list } = await loadLimits({
    defaults: () => ({ PerAccount: NUMBERS }),
    overrides,
    keys: { PerAccount: accountId() },
    maxBytes: 16 * 2 ** 20,
  });
  const loadMs = performance.now() - startMs;
  delay.disable();
  clearInterval(watch);
  rmSync(folder, { recursive: true });
  globalThis.gc?.();
  const keptBytes = (keptBy(process.memoryUsage()) - keptBy(before)) / ids;
  if (!(list instanceof OverrideList)) throw new Error('The file has no overrides.');
  return { loadMs, growthMb: (mostBytes - before.rss) / 2 ** 20, stallMs: delay.max / 1e6, keptBytes };
}

/** @param {NodeJS.MemoryUsage} usage */
function keptBy({ heapUsed, external }) {
  return heapUsed + external;
}

/**
 * Looks up who has an override and who has none, in turns.
 *
 * @param {string} name
 * @param {number} ids
 * @param {number} lookups
 * @param {boolean} quick Whether they are counted and not timed.
 */
async function lookedUp(name, ids, lookups, quick) {
  const list = new OverrideList();
  const isExact = name === LOOKUPS[0];
  const limit = { key: isExact ? accountId() : ipAddress() };
  const listed = isExact ? ids : 10_000;
  for (let n = 0; n < listed; n++) list.add('A', limit, isExact ? `${n}` : `10.${n >> 8}.${n & 255}.0/24`, NUMBERS);
  const asked = Array.from({ length: 2 * listed }, (_, n) => (isExact ? `${n}` : `10.${n >> 8}.${n & 255}.7`));
  const lookUpAll = () => {
    for (let n = 0; n < lookups; n++) list.rateOf('A', asked[n % asked.length] ?? '');
  };
  if (quick) return { allocatedBytes: await allocatedBytes(lookUpAll, lookups) };
  lookUpAll();
  const startMs = performance.now();
  lookUpAll();
  return { lookupNs: ((performance.now() - startMs) * 1e6) / lookups };
}

/** @param {import('../harness/results.mjs').Results} results */
function loadTable(results) {
  const figure = (
    /** @type {string} */ name,
    /** @type {string} */ of,
    /** @type {(value: number) => string} */ format,
  ) => withSpread(results.figure('Sluice', name, of), format);
  return {
    title: '100,000 override ids in a file: loaded and checked',
    rows: [
      ['', 'ms', 'MB more', 'longest stall, ms'],
      ...[...Object.keys(FILES), LARGEST].map((name) => [
        name,
        figure(name, 'loadMs', whole),
        figure(name, 'growthMb', whole),
        figure(name, 'stallMs', tenths),
      ]),
      ['target', `< ${TARGETS.loadMs}`, `< ${TARGETS.growthMb}`, `≤ ${TARGETS.stallMs}`],
    ],
    notes: ['The stall is by the wall clock: time in which the process waited for a processor counts too.'],
  };
}

/** @param {import('../harness/results.mjs').Results} results */
function lookupTable(results) {
  return {
    title: 'Looking up an override, half of them of ids that have none',
    rows: [
      ['', 'ns', 'target'],
      ...LOOKUPS.map((name, n) => [
        name,
        withSpread(results.figure('Sluice', name, 'lookupNs'), whole),
        `< ${TARGETS.lookupNs[n]}`,
      ]),
    ],
  };
}

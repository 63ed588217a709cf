// `npm run bench` measures everything; `npm run bench -- memory http` those parts; `--quick` counts what does not depend on
// the speed of the machine, and compares it with counts.json, which `--quick --write` writes; `--beside ../old` measures also
// the packages of another clone that is built; `--rounds 10` more often, `--contender Sluice` that one only, `--first-case`
// the first case of each part only.
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { besideTable } from './harness/beside-table.mjs';
import { committedCounts, comparedCounts, countsOf, writeCounts } from './harness/counts.mjs';
import { machine, versions } from './harness/machine.mjs';
import { resultFile, writeResults } from './harness/result-file.mjs';
import { allRounds } from './harness/rounds.mjs';
import { tableText } from './harness/table.mjs';

const PARTS = [
  'memory',
  'bytes',
  'weight',
  'stalls',
  'http',
  'redis',
  'drop-in',
  'host',
  'postgres',
  'concurrency',
  'leases',
  'serve',
  'config',
  'replay',
  'ai',
  'scheduler',
];

const asked = readArguments();
const { quick } = asked;
const about = { machine: machine(), versions: versions() };
console.log(`${about.machine.processor}, ${about.machine.cores} cores, ${about.machine.memoryGb} GB`);
console.log(`${about.machine.system}, Node ${about.machine.node}${quick ? ', counts only' : ''}`);
console.log(
  Object.entries(about.versions)
    .map((entry) => entry.join(' '))
    .join(', '),
);

const clones = asked.beside.map((clone) => basename(clone));
/** In which of its figures a part is worse than it was. @type {string[]} */
const worse = [];
for (const name of asked.names) {
  try {
    await measured(name);
  } catch (error) {
    // The other parts can be measured.
    console.error(`${name} failed.`, error);
    process.exitCode = 1;
  }
}
if (quick || clones.length > 0) console.log([`Worse: ${worse.length}`, ...worse].join('\n'));
if (quick && worse.length > 0) process.exitCode = 1;

/** @param {string} name */
async function measured(name) {
  const file = new URL(`parts/${name}.mjs`, import.meta.url).href;
  const { part } = /** @type {{ part: import('./harness/part.ts').Part }} */ (await import(file));
  const rounds = asked.rounds ?? (quick ? 1 : part.rounds);
  const results = await allRounds({ name, file, part }, { ...asked, rounds });
  console.log(`\n${part.title} (${rounds === 1 ? '1 round' : `${rounds} rounds`})`);
  if (quick) counted(name, part, results);
  else for (const table of part.tables(results)) console.log(tableText(table));
  const beside = besideTable(results, clones, quick ? part.counts.figures : undefined);
  console.log(beside.text);
  if (!quick) worse.push(...beside.worse.map((line) => `${name}: ${line}`));
  if (!quick) write(name, results);
}

/**
 * @param {string} name
 * @param {import('./harness/part.ts').Part} part
 * @param {import('./harness/results.mjs').Results} results
 */
function counted(name, part, results) {
  const counts = countsOf(part, results, clones);
  if (asked.write) writeCounts(name, counts, part);
  const compared = comparedCounts(counts, committedCounts()[name] ?? {}, part);
  console.log(tableText({ title: 'Counts', rows: [['', 'committed', 'now', ''], ...compared.rows] }));
  worse.push(...compared.worse.map((line) => `${name}: ${line}`));
}

/**
 * @param {string} name
 * @param {import('./harness/results.mjs').Results} results
 */
function write(name, results) {
  const options = process.argv.slice(2).filter((word) => !PARTS.includes(word));
  const command = ['npm run bench --', name, ...options.map(quoted)].join(' ');
  const date = new Date().toISOString().slice(0, 10);
  const isWhole = asked.contenders === undefined && clones.length === 0 && !asked.firstCase;
  writeResults(resultFile(name, { isWhole }), { part: name, command, date, ...about, results });
}

/** @param {string} word */
function quoted(word) {
  return word.includes(' ') ? `'${word}'` : word;
}

function readArguments() {
  const { values, positionals } = parsed();
  const unknown = positionals.filter((name) => !PARTS.includes(name));
  if (unknown.length > 0) fail(`There is no part named ${unknown.join(', ')}. There are: ${PARTS.join(', ')}.`);
  const { rounds = '' } = values;
  if (!/^(|[1-9]\d?)$/.test(rounds)) fail(`--rounds must be a whole number from 1 to 99, but was ${rounds}.`);
  return {
    quick: values.quick === true,
    write: values.write === true,
    firstCase: values['first-case'] === true,
    rounds: rounds === '' ? undefined : Number(rounds),
    contenders: values.contender,
    beside: (values.beside ?? []).map(builtClone),
    names: positionals.length > 0 ? positionals : PARTS,
  };
}

/** @param {string} folder */
function builtClone(folder) {
  const clone = resolve(folder);
  if (!existsSync(join(clone, 'bench/node_modules/@sluice/core/dist')))
    fail(`--beside must be the folder of a clone that is built, but was ${folder}. Run \`npm run setup\` there.`);
  return clone;
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        write: { type: 'boolean' },
        'first-case': { type: 'boolean' },
        rounds: { type: 'string' },
        contender: { type: 'string', multiple: true },
        beside: { type: 'string', multiple: true },
      },
    });
  } catch (error) {
    return fail(/** @type {Error} */ (error).message);
  }
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}

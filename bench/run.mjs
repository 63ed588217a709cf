// `npm run bench` measures everything; `npm run bench -- memory http --quick` those parts, in short;
// `--beside ../old` also with the packages of another clone that is built; `--rounds 10` more often, `--contender Sluice` that one only, `--first-case` the first case of each part only.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { besideTables } from './harness/beside-tables.mjs';
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
];

const asked = readArguments();
const { quick } = asked;
const about = { machine: machine(), versions: versions() };
console.log(`${about.machine.processor}, ${about.machine.cores} cores, ${about.machine.memoryGb} GB`);
console.log(`${about.machine.system}, Node ${about.machine.node}${quick ? ', quick: no figures to quote' : ''}`);
console.log(
  Object.entries(about.versions)
    .map((entry) => entry.join(' '))
    .join(', '),
);

for (const name of asked.names) await measured(name);

/** @param {string} name */
async function measured(name) {
  const file = new URL(`parts/${name}.mjs`, import.meta.url).href;
  const { part } = /** @type {{ part: import('./harness/part.ts').Part }} */ (await import(file));
  const rounds = asked.rounds ?? (quick ? 1 : part.rounds);
  const results = await allRounds(
    { name, file, part },
    { quick, rounds, contenders: asked.contenders, firstCase: asked.firstCase, beside: asked.beside },
  );
  console.log(`\n${part.title} (${rounds === 1 ? '1 round' : `${rounds} rounds`})`);
  for (const table of part.tables(results)) console.log(tableText(table));
  for (const table of besideTables(results)) console.log(tableText(table));
  const options = process.argv.slice(2).filter((word) => !PARTS.includes(word));
  const command = ['npm run bench --', name, ...options.map(quoted)].join(' ');
  const date = new Date().toISOString().slice(0, 10);
  writeResults(resultFile(name, { quick }), { part: name, command, date, ...about, results });
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
    firstCase: values['first-case'] === true,
    rounds: rounds === '' ? undefined : Number(rounds),
    contenders: values.contender,
    beside: (values.beside ?? []).map((clone) => resolve(clone)),
    names: positionals.length > 0 ? positionals : PARTS,
  };
}

function parsed() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
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

// `npm run trial -- measures` prints what the code weighs beyond its pins, and fails if it is more than what is written here.
// With `--rooms` it prints which rooms a program with one rate loads.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compiledCore, exportedBy, linesOfLogic } from './core-program.ts';
import { firstProgram, roomsOfFirstProgram } from './first-program.ts';
import { linesNaming, namesOfCore, type Kind } from './names-of-core.ts';
import { bytesOfRequests, isFarBelow } from './pins.ts';

/** The most of each. Lower a figure when it falls, and do not raise it. Bytes are 1.5 % above what is printed mostly. */
const MOST = {
  'bytes of a request': { 'a rate': 1770, 'a quota': 2100, 'two limits': 2440, 'a slot': 7690 },
  'a program with one rate': {
    modules: 170,
    lines: 17_458,
    'lines of logic': 8859,
    bytes: 204_200,
    'bytes, gzipped': 69_500,
  },
  'lines of core that name': { slot: 24, quota: 24, borrow: 24, load: 16, lease: 53 },
  'types named': { Batch: 1, Answer: 1, Use: 1, Asked: 1, Part: 1, Entry: 1, Outcome: 1 },
  'names of': { '@sluice/core': 65, '@sluice/core/store': 43, '@sluice/core/kit': 85 },
  'lines of logic of': { core: 15_207, 'all packages': 43_816 },
  'words of': { docs: 63_190 },
};

const KINDS: Readonly<Record<string, Kind>> = {
  slot: { rooms: /^kinds\/concurrency\//, words: /^(slot|concurren)/ },
  quota: { rooms: /^(kinds\/quota|calendar)\//, words: /^(quota|calendar)/ },
  borrow: { rooms: /^kinds\/borrow\//, words: /^(borrow|lend|loan)/ },
  load: { rooms: /^kinds\/load\//, words: /^(loads?|shed.*)$/ },
  // It has no room: it is an option of rates.
  lease: { rooms: /^$/, words: /^lease/ },
};

type Figures = Readonly<Record<string, number | readonly string[]>>;

const program = compiledCore();
const names = namesOfCore(program);
const sources = tracked('packages/*/src/*.ts', 'tools/*/src/*.ts');
const figures: Readonly<Record<keyof typeof MOST, Figures>> = {
  'bytes of a request': await bytesOfRequests(),
  'a program with one rate': await firstProgram(),
  'lines of core that name': mapped(KINDS, (_, kind) => linesNaming(names, kind)),
  'types named': mapped(MOST['types named'], typesNamed),
  'names of': {
    '@sluice/core': exportedBy(program, 'index.ts'),
    '@sluice/core/store': exportedBy(program, 'store.ts'),
    '@sluice/core/kit': exportedBy(program, 'kit.ts'),
  },
  'lines of logic of': {
    core: linesOfLogic(sources.filter((path) => /\/core\/src\/(?!testing\/)/.test(path))),
    'all packages': linesOfLogic(sources),
  },
  'words of': { docs: wordsIn(tracked('docs/*.md')) },
};

if (process.argv.includes('--rooms')) console.table(await roomsOfFirstProgram());

for (const [name, most] of Object.entries(MOST))
  for (const [of, figure] of Object.entries(most))
    print(`${name} ${of}`, figures[name as keyof typeof MOST][of]!, figure);

function print(name: string, figure: number | readonly string[], most: number): void {
  const count = typeof figure === 'number' ? figure : figure.length;
  const verdict = count > most ? 'ABOVE ' : isFarBelow(count, most) ? 'LOWER THE BOUND OF ' : '';
  console.log(`${verdict}${name}: ${count} (at most ${most})`);
  if (typeof figure !== 'number' && count > most) console.log(`  ${figure.join(', ')}`);
  if (count > most) process.exitCode = 1;
}

function mapped<T, U>(values: Readonly<Record<string, T>>, to: (name: string, value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, to(name, value)]));
}

function typesNamed(name: string): readonly string[] {
  const declaration = new RegExp(`^(export )?(abstract )?(interface|class|type) ${name}\\b`, 'm');
  return sources.filter((path) => declaration.test(readFileSync(path, 'utf8')));
}

function tracked(...patterns: string[]): readonly string[] {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const listed = execFileSync('git', ['ls-files', '-z', ...patterns], { cwd: root, encoding: 'utf8', maxBuffer: 1e7 });
  return listed
    .split('\0')
    .slice(0, -1)
    .map((path) => root + path);
}

function wordsIn(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + (readFileSync(path, 'utf8').match(/\S+/g)?.length ?? 0), 0);
}

// `npm run measures` prints what the code weighs beyond its pins, and fails if it is more than what is written here.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  brokenWithoutKind,
  brokenWithoutOption,
  compiledCore,
  exportedBy,
  linesOfLogic,
  typesOfAsking,
} from './core-program.ts';
import { bytesOfRequests } from './pins.ts';

/** The most of each. Lower a figure when it falls, and do not raise it. Bytes are 5 % above what is printed mostly. */
const MOST = {
  bytes: { 'a rate': 1970, 'a quota': 2280, 'two limits': 2600, 'a slot': 9150 },
  'files of core that do not compile without': {
    load: 4,
    quota: 2,
    concurrency: 2,
    borrow: 4,
    maxWait: 2,
    maxDebt: 3,
    overshoot: 4,
    hidden: 4,
  },
  'types of core with three of id, cost, mode, share and limit': 19,
  'names of': { '@sluice/core': 70, '@sluice/core/store': 37, '@sluice/core/kit': 90 },
  'lines of logic of': { core: 12_621, 'all packages': 37_303 },
  'words of docs': 64_872,
};

type Figure = number | readonly string[];
type Figures = Readonly<Record<string, Figure | Readonly<Record<string, Figure>>>>;

const program = compiledCore();
const sources = tracked('packages/*/src/*.ts');
const figures: Record<keyof typeof MOST, Figures[string]> = {
  bytes: await bytesOfRequests(),
  'files of core that do not compile without': {
    ...byName(['load', 'quota', 'concurrency'], brokenWithoutKind),
    ...byName(['borrow', 'maxWait', 'maxDebt', 'overshoot', 'hidden'], brokenWithoutOption),
  },
  'types of core with three of id, cost, mode, share and limit': typesOfAsking(program),
  'names of': {
    '@sluice/core': exportedBy(program, 'index.ts'),
    '@sluice/core/store': exportedBy(program, 'store.ts'),
    '@sluice/core/kit': exportedBy(program, 'kit.ts'),
  },
  'lines of logic of': {
    core: linesOfLogic(sources.filter((path) => /\/core\/src\/(?!testing\/)/.test(path))),
    'all packages': linesOfLogic(sources),
  },
  'words of docs': wordsIn(tracked('docs/*.md')),
};

for (const [name, figure] of Object.entries(figures)) {
  const most = MOST[name as keyof typeof MOST];
  if (typeof most === 'number') print(name, figure as Figure, most);
  else
    for (const [of, each] of Object.entries(most))
      print(`${name} ${of}`, (figure as Record<string, Figure>)[of]!, each);
}

function print(name: string, figure: Figure, most: number): void {
  const count = typeof figure === 'number' ? figure : figure.length;
  console.log(`${count > most ? 'ABOVE ' : ''}${name}: ${count} (at most ${most})`);
  if (typeof figure !== 'number' && count !== most) console.log(`  ${figure.join(', ')}`);
  if (count > most) process.exitCode = 1;
}

function byName(names: readonly string[], figureOf: (name: string) => Figure): Readonly<Record<string, Figure>> {
  return Object.fromEntries(names.map((name) => [name, figureOf(name)]));
}

function tracked(pattern: string): readonly string[] {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const listed = execFileSync('git', ['ls-files', '-z', pattern], { cwd: root, encoding: 'utf8', maxBuffer: 1e7 });
  return listed
    .split('\0')
    .slice(0, -1)
    .map((path) => root + path);
}

function wordsIn(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + (readFileSync(path, 'utf8').match(/\S+/g)?.length ?? 0), 0);
}

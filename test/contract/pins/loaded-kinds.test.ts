import { expect, test } from 'vitest';
import { core } from './core-program.ts';
import { bundled, FIRST_PROGRAM } from './first-program.ts';

/** What only some programs need, by the modules of core that have it. */
const APART: Readonly<Record<string, RegExp>> = {
  // With how periods are named.
  quota: /^(kinds\/quota|calendar)\//,
  // With what slots do at the end of a response, and while a store can't answer.
  concurrency: /^(kinds\/concurrency\/|store\/memory\/slot-buckets?\.ts$)/,
  load: /^kinds\/load\//,
  borrow: /^kinds\/borrow\//,
  // The gate to a store that answers at once is open.
  failure: /^(failure\/(?!(open|store)-gate\.ts$)|time\/(call-)?deadline)/,
  dump: /^store\/memory\/(dump|dump-format|slots-dump)\.ts$/,
};

async function loadedApart(program: string): Promise<readonly string[]> {
  const { modules } = await bundled(program);
  const paths = modules.map((path) => path.slice(core.length));
  return Object.keys(APART).filter((what) => paths.some((path) => APART[what]!.test(path)));
}

test('a program with one rate loads no other kind of limits, no calendar, no slots, no dumps and nothing of stores that fail', async () => {
  expect(await loadedApart(FIRST_PROGRAM)).toEqual([]);
});

test.each([
  ['quota', ['quota']],
  ['concurrency', ['concurrency']],
  ['load', ['load']],
  ['borrow', ['borrow']],
  ['store', ['failure']],
  // It restores slots, whoever had them.
  ['dump', ['concurrency', 'dump']],
])('a program that imports @sluice/core/%s loads %j beside the rate', async (entry, loaded) => {
  const program = `import * as entry from '@sluice/core/${entry}'; console.log(entry);`;
  expect(await loadedApart(`${FIRST_PROGRAM} ${program}`)).toEqual(loaded);
});

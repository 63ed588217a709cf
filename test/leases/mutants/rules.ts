import { ruleChangeOf, testsOf, type Verdict } from './mutated-tests.ts';
import type { Finder, RuleMutant } from './rule-mutant.ts';
import { ruleMutants } from './rule-mutants.ts';
import type { Tried } from './tried.ts';

/** Breaks each rule whose name contains a text, runs the test that must find it, and prints what it found. */
export async function tryRuleMutants(only: string): Promise<Tried> {
  const mutants = ruleMutants.filter(({ name }) => name.includes(only));
  await expectSound(mutants);
  let survivors = 0;
  for (const mutant of mutants) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const verdict = await testsOf(mutant.finder, await ruleChangeOf(mutant));
    if (verdict.tests === 0) throw new Error(`${mutant.name}: there is no test ${titleOf(mutant.finder)}`);
    if (verdict.failed === 0) survivors++;
    printRow(mutant.name, mutant.finder, resultOf(verdict));
  }
  return { mutants: mutants.length, survivors };
}

/** All that is to find mutants passes without one: the files as a whole, and the most scenes of each kind. */
async function expectSound(mutants: readonly RuleMutant[]): Promise<void> {
  const finders = new Map<string, Finder>();
  for (const { finder } of mutants) {
    if ('file' in finder) finders.set(finder.file, { ...finder, named: '' });
    else if (finder.scenes >= mostScenes(finders.get(finder.kind))) finders.set(finder.kind, finder);
  }
  for (const finder of finders.values()) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { tests, failed } = await testsOf(finder);
    if (tests === 0 || failed > 0) throw new Error(`Without a mutant, ${failed} of ${tests} fail: ${titleOf(finder)}`);
    printRow('none', finder, `${tests} passed`);
  }
}

function mostScenes(finder: Finder | undefined): number {
  return finder !== undefined && 'kind' in finder ? finder.scenes : 0;
}

function printRow(mutant: string, finder: Finder, result: string): void {
  console.log(`${mutant.padEnd(62)}  ${titleOf(finder).padEnd(78)}  ${result}`);
}

function titleOf(finder: Finder): string {
  if ('kind' in finder) return `${finder.scenes} scenes: ${finder.kind}`;
  return [finder.file.split('/').at(-1)!, finder.named].filter((part) => part !== '').join(': ');
}

function resultOf({ failed, violations, worstShare }: Verdict): string {
  if (failed === 0) return 'SURVIVES';
  return violations === undefined ? 'caught' : `${violations} violations, at worst ${worstShare!} of the bound`;
}

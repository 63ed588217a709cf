import { changeOf, mutatedRun, type Mutant } from './mutated-run.ts';

/** Which tests of a source may notice its changes, in this order: each is run until one fails. */
interface Trial {
  readonly mutants: readonly Mutant[];
  readonly filesOf: (mutant: Mutant) => readonly string[];
  /** After how long a test has failed: a call that is never begun is a test that never ends. */
  readonly testTimeoutMs: number;
}

/** Tries mutants one after the other, prints which test notices each, and ends the process: with an error if one survives. */
export async function tryMutants({ mutants, filesOf, testTimeoutMs }: Trial): Promise<never> {
  // A heap in disorder is a loop that never ends.
  const runOf = (file: string) => ({ file, bail: true, testTimeoutMs, setupFiles: ['test/mutants/end-when-hung.ts'] });
  /* oxlint-disable no-await-in-loop -- one after the other */
  for (const file of new Set(mutants.flatMap(filesOf))) {
    const { tests, failed, firstFailure } = await mutatedRun(runOf(file));
    if (tests === 0 || failed > 0) throw new Error(`Without a mutant, ${failed} of ${tests} fail: ${firstFailure}`);
  }
  let survivors = 0;
  for (const mutant of mutants) {
    const change = await changeOf(mutant);
    let failure: string | undefined;
    for (const file of filesOf(mutant))
      if (failure === undefined) ({ firstFailure: failure } = await mutatedRun(runOf(file), change));
    if (failure === undefined) survivors++;
    console.log(`${mutant.name.padEnd(60)}  ${failure?.split(': ')[0] ?? 'SURVIVES'}`);
  }
  console.log(`\n${mutants.length} mutants, ${survivors} survive`);
  process.exit(survivors === 0 && mutants.length > 0 ? 0 : 1);
}

// `npm run trial -- mutants-adapters` breaks the adapters on purpose, one change at a time, and fails if a contract that must find it
// does not. `--only <text>` tries those whose names contain a text.
import { parseArgs } from 'node:util';
import { changeOf, mutatedRun, type MutatedRun } from '../../../mutants/mutated-run.ts';
import { adapterMutants } from './adapter-mutants.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const mutants = adapterMutants.filter(({ name }) => name.includes(values.only));
/** Many mutants leave a request without an answer, for which a test need not wait long. */
const runOf = (contract: string): MutatedRun => ({
  file: `test/contract/http/${contract}.test.ts`,
  testTimeoutMs: 30_000,
});

/* oxlint-disable no-await-in-loop -- one after the other */
for (const contract of new Set(mutants.flatMap(({ contracts }) => contracts))) {
  const { tests, failed, firstFailure } = await mutatedRun(runOf(contract));
  if (tests === 0 || failed > 0)
    throw new Error(`Without a mutant, ${failed} of ${tests} fail: ${contract}, first ${firstFailure}`);
  console.log(`${'none'.padEnd(56)}  ${contract.padEnd(15)}  ${tests} passed`);
}
let [tried, survivors] = [0, 0];
for (const mutant of mutants) {
  const change = await changeOf(mutant);
  for (const contract of mutant.contracts) {
    const { failed } = await mutatedRun({ ...runOf(contract), bail: true }, change);
    tried++;
    if (failed === 0) survivors++;
    console.log(`${mutant.name.padEnd(56)}  ${contract.padEnd(15)}  ${failed === 0 ? 'SURVIVES' : 'caught'}`);
  }
}
console.log(`\n${mutants.length} mutants, tried ${tried} times, ${survivors} survive`);
process.exit(survivors === 0 && tried > 0 ? 0 : 1);

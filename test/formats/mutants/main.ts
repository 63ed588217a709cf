// `npm run trial -- mutants-formats` changes formats on purpose, one at a time and without their versions, and fails if the tests of
// formats do not notice one. `--only <text>` tries those whose names contain a text.
import { parseArgs } from 'node:util';
import { changeOf, mutatedRun } from '../../mutants/mutated-run.ts';
import { CHANGE } from '../changed-text.ts';
import { formatMutants } from './format-mutants.ts';

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const mutants = formatMutants.filter(({ name }) => name.includes(values.only));
const runOf = (test: string) => ({
  file: `test/formats/${test}.test.ts`,
  setupFiles: ['test/redis/servers/teardown.ts'],
});

/* oxlint-disable no-await-in-loop -- one after the other */
for (const test of new Set(mutants.map((mutant) => mutant.test))) {
  const { tests, failed, firstFailure } = await mutatedRun(runOf(test));
  if (tests === 0 || failed > 0)
    throw new Error(`Without a mutant, ${failed} of ${tests} fail: ${test}, first ${firstFailure}`);
}
let survivors = 0;
for (const mutant of mutants) {
  const change = await changeOf(mutant);
  process.env[CHANGE] = JSON.stringify(change);
  const { failed } = await mutatedRun(runOf(mutant.test), change);
  if (failed === 0) survivors++;
  console.log(`${mutant.name.padEnd(50)}  ${mutant.test.padEnd(20)}  ${failed === 0 ? 'SURVIVES' : 'caught'}`);
}
console.log(`\n${mutants.length} mutants, ${survivors} survive`);
process.exit(survivors === 0 && mutants.length > 0 ? 0 : 1);

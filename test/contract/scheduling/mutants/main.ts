// `npm run trial -- mutants-scheduler` breaks the scheduler on purpose, one change at a time, and fails if no test notices one.
// `--only <text>` tries those whose names contain a text.
import { parseArgs } from 'node:util';
import { changeOf, mutatedRun } from '../../../mutants/mutated-run.ts';
import { schedulerMutants } from './scheduler-mutants.ts';

/** In this order, until a test of one fails. */
const FILES = [
  ...['scheduler', 'forgotten-keys', 'later-store', 'metrics', 'left-behind'].map(
    (name) => `packages/core/test/scheduler/${name}.test.ts`,
  ),
  'test/property/scheduled-order.test.ts',
];

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } });
const mutants = schedulerMutants.filter(({ name }) => name.includes(values.only));
// A call that is never begun is a test that never ends, and a heap in disorder is a loop that never ends.
const setupFiles = ['test/mutants/end-when-hung.ts'];
const runOf = (file: string) => ({ file, bail: true, testTimeoutMs: 20_000, setupFiles });

/* oxlint-disable no-await-in-loop -- one after the other */
for (const file of FILES) {
  const { tests, failed, firstFailure } = await mutatedRun(runOf(file));
  if (tests === 0 || failed > 0) throw new Error(`Without a mutant, ${failed} of ${tests} fail: ${firstFailure}`);
}
let survivors = 0;
for (const mutant of mutants) {
  const change = await changeOf(mutant);
  let failure: string | undefined;
  for (let i = 0; failure === undefined && i < FILES.length; i++)
    ({ firstFailure: failure } = await mutatedRun(runOf(FILES[i]!), change));
  if (failure === undefined) survivors++;
  console.log(`${mutant.name.padEnd(60)}  ${failure?.split(': ')[0] ?? 'SURVIVES'}`);
}
console.log(`\n${mutants.length} mutants, ${survivors} survive`);
process.exit(survivors === 0 && mutants.length > 0 ? 0 : 1);

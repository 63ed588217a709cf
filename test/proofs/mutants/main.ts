// `npm run trial -- mutants-proofs` breaks sources on purpose, one change at a time, and fails if no theorem about the source is
// refuted. It prints the scenario of each. `sync.lua cap` tries the mutants whose path or words contain one of the texts.
// `--change <path> <text> <by>` tries a change of yours.
import { askConditions } from '../engine/shadows.ts';
import { closeSolver } from '../engine/solver.ts';
import { proofMutants } from './index.ts';
import type { Mutant } from './mutant.ts';
import { outcomeOf } from './outcome.ts';

function chosen(args: readonly string[]): readonly Mutant[] {
  if (args[0] === '--change') {
    const [, path = '', replace = '', by = ''] = args;
    return [{ in: path, replace, by, about: 'a change by hand' }];
  }
  return args.length === 0
    ? proofMutants
    : proofMutants.filter(({ in: path, about }) => args.some((text) => `${path} ${about}`.includes(text)));
}

askConditions();
const mutants = chosen(process.argv.slice(2));
let refuted = 0;
for (const mutant of mutants) {
  const { isRefuted, text } = await outcomeOf(mutant);
  if (isRefuted) refuted++;
  console.log(text);
}
console.log(`${refuted} of ${mutants.length} mutants are refuted`);
closeSolver();
process.exitCode = refuted === mutants.length && refuted > 0 ? 0 : 1;

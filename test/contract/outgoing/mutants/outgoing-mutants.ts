import type { Mutant } from '../../../mutants/mutated-run.ts';
import { doorChanges } from './door-changes.ts';
import { fieldChanges } from './field-changes.ts';
import { learningChanges } from './learning-changes.ts';

/** Changes of the package, each of which a test has to notice. */
export const outgoingMutants: readonly Mutant[] = [...doorChanges, ...learningChanges, ...fieldChanges].map(
  ([name, file, replace, by]) => ({ name, in: `packages/outgoing/src/${file}.ts`, replace, by }),
);

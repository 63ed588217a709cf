import { boundMutants, outageMutants } from './bound-mutants.ts';
import { leaseMutants } from './lease-mutants.ts';
import type { RuleMutant } from './rule-mutant.ts';
import { batchMutants, streamMutants } from './sync-mutants.ts';

/** The quick ones first. */
export const ruleMutants: readonly RuleMutant[] = [
  ...leaseMutants,
  ...streamMutants,
  ...batchMutants,
  ...boundMutants,
  ...outageMutants,
];

import { leaseMutants } from './lease-mutants.ts';
import type { Mutant } from './mutant.ts';
import { quotaMutants } from './quota-mutants.ts';
import { quotaRedisMutants } from './quota-redis-mutants.ts';
import { ruleMutants } from './rule-mutants.ts';
import { storeMutants } from './store-mutants.ts';

/** All mutants that theorems refute. */
export const proofMutants: readonly Mutant[] = [
  ...ruleMutants,
  ...storeMutants,
  ...quotaMutants,
  ...quotaRedisMutants,
  ...leaseMutants,
];

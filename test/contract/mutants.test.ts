import { expect, test } from 'vitest';
import { ruleChangeOf } from '../leases/mutants/mutated-tests.ts';
import { ruleMutants } from '../leases/mutants/rule-mutants.ts';
import { changeOf } from '../mutants/mutated-run.ts';
import { proofMutants } from '../proofs/mutants/index.ts';
import { adapterMutants } from './http/mutants/adapter-mutants.ts';

test.each(adapterMutants)('a mutant changes an adapter as it is: $name', async (mutant) => {
  expect((await changeOf(mutant)).source).toContain(mutant.by);
});

test.each(ruleMutants)('a mutant changes the rules of leases as they are: $name', async (mutant) => {
  expect((await ruleChangeOf(mutant)).source).toContain(mutant.by);
});

test.each(proofMutants)('a mutant changes what is proved as it is: $in, $about', async ({ about, ...mutant }) => {
  expect((await changeOf({ ...mutant, name: about })).source).toContain(mutant.by);
});

import { expect, test } from 'vitest';
import { ruleChangeOf } from '../leases/mutants/mutated-tests.ts';
import { ruleMutants } from '../leases/mutants/rule-mutants.ts';
import { changeOf } from '../mutants/mutated-run.ts';
import { schemaMutants } from '../postgres/mutants/schema-mutants.ts';
import { proofMutants } from '../proofs/mutants/index.ts';
import { adapterMutants } from './http/mutants/adapter-mutants.ts';
import { outgoingMutants } from './outgoing/mutants/outgoing-mutants.ts';
import { schedulerMutants } from './scheduling/mutants/scheduler-mutants.ts';

test.each(adapterMutants)('the text that a mutant of the adapters replaces occurs once: $name', async (mutant) => {
  expect((await changeOf(mutant)).source).toContain(mutant.by);
});

test.each(ruleMutants)('the text that a mutant of the rules of leases replaces occurs once: $name', async (mutant) => {
  expect((await ruleChangeOf(mutant)).source).toContain(mutant.by);
});

test.each(schemaMutants)(
  'the text that a mutant of the PostgreSQL store replaces occurs once: $name',
  async (mutant) => {
    const { source } = await changeOf(mutant);
    expect(source).toContain(mutant.by);
  },
);

test.each(proofMutants)(
  'the text that a mutant of the proofs replaces occurs once: $in, $about',
  async ({ about, ...mutant }) => {
    expect((await changeOf({ ...mutant, name: about })).source).toContain(mutant.by);
  },
);

test.each([...schedulerMutants, ...outgoingMutants])(
  'the text that a mutant of the scheduler or the doors replaces occurs once: $name',
  async (mutant) => {
    expect((await changeOf(mutant)).source).toContain(mutant.by);
  },
);

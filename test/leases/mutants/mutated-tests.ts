import { changeOf, mutatedRun, type Change } from '../../mutants/mutated-run.ts';
import { KINDS } from '../scene.ts';
import { CORE, type Finder, type RuleMutant } from './rule-mutant.ts';

const SCENES_TEST = 'test/property/leases.test.ts';

/** What the tests made of a source. */
export interface Verdict {
  readonly tests: number;
  readonly failed: number;
  /** How many scenes were beyond the bound, and the worst share of the bound, if the tests have scenes. */
  readonly violations: number | undefined;
  readonly worstShare: number | undefined;
}

/** Replaces the text of a mutant, which its file must contain once. */
export function ruleChangeOf(mutant: RuleMutant): Promise<Change> {
  return changeOf({ ...mutant, in: mutant.in.includes('/') ? mutant.in : `${CORE}/${mutant.in}` });
}

/** Runs what finds a mutant, on the sources as they are or with a change that is made in memory. */
export async function testsOf(finder: Finder, change?: Change): Promise<Verdict> {
  const file = 'kind' in finder ? SCENES_TEST : finder.file;
  const named = 'kind' in finder ? `bound: ${finder.kind}$` : finder.named;
  if ('kind' in finder) process.env.SLUICE_LEASE_SCENES = String(KINDS.length * finder.scenes);
  const { tests, failed, log } = await mutatedRun({ file, named, setupFiles: ['test/property/setup.ts'] }, change);
  const [, violations, worstShare] = /(\d+) violations, at worst ([\d.]+)/.exec(log) ?? [];
  return {
    tests,
    failed,
    violations: violations === undefined ? undefined : Number(violations),
    worstShare: worstShare === undefined ? undefined : Number(worstShare),
  };
}

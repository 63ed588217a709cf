import { prove } from '../engine/prove.ts';
import { partsWith } from '../engine/source.ts';
import type { Theorem } from '../engine/theorem.ts';
import { toldProof } from '../engine/told.ts';
import type { Mutant } from './mutant.ts';

/** What came of a mutant. */
export interface Outcome {
  readonly isRefuted: boolean;
  /** What is printed: for a mutant that is refuted, a scenario. */
  readonly text: string;
}

/** Proves the theorems about the source of a mutant, until one is refuted. */
export async function outcomeOf(mutant: Mutant): Promise<Outcome> {
  try {
    for (const theorem of await theoremsAbout(mutant)) {
      const proof = prove(theorem);
      if (proof.problem !== undefined) return outcome(mutant, 'refuted', toldProof(proof));
    }
    return outcome(mutant, 'SURVIVES', '');
  } catch (error) {
    return outcome(mutant, 'IS NOT TRIED', String(error));
  }
}

/** In the stack of an error. */
const MUTATION_IN_URL = /\?mutation=[^:]*/g;

function outcome(mutant: Mutant, verdict: 'refuted' | 'SURVIVES' | 'IS NOT TRIED', told: string): Outcome {
  const lines = told.replaceAll(/^/gm, '    ').replaceAll(MUTATION_IN_URL, '');
  return {
    isRefuted: verdict === 'refuted',
    text: `${verdict.padEnd(8)} ${mutant.in}: ${mutant.about}\n${lines}`.trimEnd(),
  };
}

/** After the one that is named, those that execute few sources: they tell most about this one. */
async function theoremsAbout(mutant: Mutant): Promise<readonly Theorem[]> {
  const isFirst = ({ name }: Theorem): number => (name === mutant.first ? 1 : 0);
  return (await partsWith(mutant))
    .flatMap(({ theorems }) => theorems)
    .filter(({ sources }) => sources.includes(mutant.in))
    .toSorted((a, b) => isFirst(b) - isFirst(a) || a.sources.length - b.sources.length);
}

import type { Proof } from './prove.ts';

/** What is printed of a proof: a line, or a scenario in which the theorem is false. */
export function toldProof({
  theorem,
  problem,
  counterexample,
  paths,
  claims,
  roundings,
  queries,
  seconds,
}: Proof): string {
  const figures = [`${paths} paths`, `${claims} claims`, `${queries} questions`, `${seconds.toFixed(2)} s`];
  if (roundings > 0) figures.push(`${roundings} sums above 2^53`);
  if (problem === undefined) return `proved   ${theorem.name.padEnd(28)} ${figures.join(', ')}`;
  const lines = [`REFUTED  ${theorem.name}: ${theorem.words}`, `         ${problem}`];
  if (counterexample === undefined) lines.push('         No numbers were found for which it is false.');
  else {
    lines.push('         For example, on plain doubles:');
    for (const each of counterexample.story) lines.push(`           ${each}`);
    lines.push(`         Then it is not true that: ${counterexample.claim}`);
  }
  return lines.join('\n');
}

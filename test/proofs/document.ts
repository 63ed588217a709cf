// `npm run prove -- --document` writes the theorems into docs/proofs.md, and the scenario of a mutant as an example; a
// whole run fails if the page is not up to date.
import { readFile, writeFile } from 'node:fs/promises';
import { formatted } from '../../scripts/formatted.mjs';
import type { Part, Theorem } from './engine/theorem.ts';
import { outcomeOf } from './mutants/outcome.ts';
import { ruleMutants } from './mutants/rule-mutants.ts';

const PAGE = new URL('../../docs/proofs.md', import.meta.url);
const BEGIN = '<!-- The theorems below are written by `npm run prove -- --document`. -->';

/** A block with what is printed of the mutant of the example. */
const EXAMPLE_BLOCK = /(?<=```text\n)refuted .*?(?=\n```)/s;
const EXAMPLE = ruleMutants.find(({ about }) => about === 'the shown wait is rounded down')!;

/** The page with the theorems and the example as they are. Everything else above the theorems is written by hand. */
async function pageOf(parts: readonly Part[], given: string): Promise<string> {
  const [head] = given.split(BEGIN) as [string];
  const example = await outcomeOf(EXAMPLE);
  if (!EXAMPLE_BLOCK.test(head) || !example.isRefuted) throw new Error(`The page has no example, or: ${example.text}`);
  const text = [head.trimEnd().replace(EXAMPLE_BLOCK, () => example.text), BEGIN, ...parts.map(partText)].join('\n\n');
  return formatted('proofs.md', text);
}

export async function isUpToDate(parts: readonly Part[]): Promise<boolean> {
  const given = await readFile(PAGE, 'utf8');
  return (await pageOf(parts, given)) === given;
}

export async function writePage(parts: readonly Part[]): Promise<void> {
  await writeFile(PAGE, await pageOf(parts, await readFile(PAGE, 'utf8')));
}

function partText({ title, about, theorems }: Part): string {
  return [`## ${title}`, about, ...theorems.map(theoremText)].join('\n\n');
}

function theoremText({ name, words, formula, invariant, sources, assumes, isArithmetic }: Theorem): string {
  const lines = [`### ${name}`, words];
  if (formula !== undefined) lines.push(`    ${formula}`);
  if (invariant !== undefined) lines.push(`- **Invariant:** ${invariant}`);
  if (assumes !== undefined) lines.push(`- **Assumed:** ${assumes.join(' ')}`);
  if (isArithmetic === true) lines.push('- **Executed:** nothing. It joins other theorems.');
  else lines.push(`- **Executed:** ${sources.map(link).join(', ')}`);
  return lines.join('\n\n').replaceAll('\n\n- **', '\n- **').replace('\n- **', '\n\n- **');
}

function link(path: string): string {
  return `[${path.slice(path.lastIndexOf('/') + 1)}](../${path})`;
}

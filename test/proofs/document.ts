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
  const shared = sharedAssumptions(theorems);
  const assumed = shared.length === 0 ? [] : [`**Assumed in all of them:** ${shared.join(' ')}`];
  const sources = [...new Set(theorems.flatMap((theorem) => theorem.sources))];
  const executed = sources.length === 0 ? [] : [`**Executed:** ${sources.map(link).join(', ')}`];
  const texts = theorems.map((theorem) => theoremText(theorem, shared));
  return [`## ${title}`, about, ...assumed, ...executed, ...texts].join('\n\n');
}

/** What all theorems of a part assume, which is said once. */
function sharedAssumptions([first, ...others]: readonly Theorem[]): readonly string[] {
  return (first?.assumes ?? []).filter((each) => others.every(({ assumes }) => assumes?.includes(each) === true));
}

function theoremText({ name, words, formula, assumes = [] }: Theorem, shared: readonly string[]): string {
  const lines = [`### ${name}`, words];
  if (formula !== undefined) lines.push(`    ${formula}`);
  const own = assumes.filter((each) => !shared.includes(each));
  if (own.length > 0) lines.push(`**Assumed:** ${own.join(' ')}`);
  return lines.join('\n\n');
}

function link(path: string): string {
  return `[${path.slice(path.lastIndexOf('/') + 1)}](../${path})`;
}

// `npm run prove -- --document` writes docs/proofs.md from the theorems; a whole run fails if it is not up to date.
import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import type { Part, Theorem } from './engine/theorem.ts';

const PAGE = new URL('../../docs/proofs.md', import.meta.url);
const BEGIN = '<!-- The theorems below are written by `npm run prove -- --document`. -->';

/** The page with the theorems as they are. What is above them is written by hand. */
async function pageOf(parts: readonly Part[], given: string): Promise<string> {
  const [head] = given.split(BEGIN) as [string];
  const text = [head.trimEnd(), BEGIN, ...parts.map(partText)].join('\n\n');
  return format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' });
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

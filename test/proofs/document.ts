// `npm run trial -- prove --document` writes the theorems into docs/proofs.md; a whole run fails if the page is not up to
// date.
import { readFile, writeFile } from 'node:fs/promises';
import { formatted } from '../../scripts/formatted.mjs';
import type { Part } from './engine/theorem.ts';

const PAGE = new URL('../../docs/proofs.md', import.meta.url);
const BEGIN = '<!-- The theorems below are written by `npm run trial -- prove --document`. -->';

/** The page with the theorems as they are. Everything above them is written by hand. */
async function pageOf(parts: readonly Part[], given: string): Promise<string> {
  const [head] = given.split(BEGIN) as [string];
  const text = [head.trimEnd(), BEGIN, ...parts.map(partText)].join('\n\n');
  return formatted('proofs.md', text);
}

export async function isUpToDate(parts: readonly Part[]): Promise<boolean> {
  const given = await readFile(PAGE, 'utf8');
  return (await pageOf(parts, given)) === given;
}

export async function writePage(parts: readonly Part[]): Promise<void> {
  await writeFile(PAGE, await pageOf(parts, await readFile(PAGE, 'utf8')));
}

/** A group with the names of its theorems: the statement and the assumptions of each are in its source. */
function partText({ title, about, theorems }: Part): string {
  return [`## ${title}`, firstSentence(about), `${theorems.map(({ name }) => `**${name}**`).join(', ')}.`].join('\n\n');
}

function firstSentence(text: string): string {
  return /^.*?[.](?= [A-Z`“]|$)/.exec(text)?.[0] ?? text;
}

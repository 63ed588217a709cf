// The texts for agents that write code, from the pages for people: `llms.txt` on the site, and the skill in @sluice/core.
// `npm run trial -- docs-tables` writes them, and a test fails when they differ from what is there.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressOf } from '../site/.vitepress/pages.mjs';
import { formatted } from './formatted.mjs';
import { root } from './pnpm.mjs';

const LINK = /\[([^\]]+)\]\(([^)]+)\)/g;
const SKILL = 'packages/core/skills/sluice/SKILL.md';
const MISTAKES = 5;

/** @returns {Promise<readonly (readonly [file: string, text: string])[]>} */
export async function agentTexts() {
  return [
    ['site/public/llms.txt', llmsText()],
    [SKILL, await formatted(SKILL, skill())],
  ];
}

/** The map of all pages, as https://llmstxt.org has it: links to the pages of the site. */
function llmsText() {
  const [, ...sections] = textOf('docs/README.md').split(/^## /m);
  const lists = sections.map((section) => `## ${section.trim().replace(LINK, (_, text, to) => onSite(text, to))}`);
  return [`# Sluice`, `> ${summary()}`, ...lists].join('\n\n') + '\n';
}

/** @param {string} text @param {string} target from docs/ */
function onSite(text, target) {
  const [path = '', anchor] = target.split('#');
  const address = addressOf(join('docs', path));
  if (address === undefined) return text;
  const page = address.replace(/index\.md$/, '').replace(/\.md$/, '.html');
  return `[${text}](${page}${anchor === undefined ? '' : `#${anchor}`})`;
}

function skill() {
  const readme = textOf('README.md');
  return `---
name: sluice
description: Rate limits for Node with Sluice. Use for code that imports @sluice/*, and to add or change limits of requests, tokens or logins.
---

# Sluice

${summary()}

## Which package

Each is \`@sluice/\` and its name.

${withoutLinks(tableAfter(readme, '| package '))}

## In ten lines

${blockAfter(readme, '```ts\n// server.mjs')}

On many machines, with several limits in one decision:

${blockAfter(readme.slice(readme.indexOf('## Many machines')), '```ts')}

## Five mistakes

What is written from the habit of other libraries, and what is true here:

${mistakes()}
`;
}

function mistakes() {
  const [, , ...rows] = tableAfter(textOf('docs/coming-from-other-libraries.md'), '| there ').split('\n');
  return rows
    .slice(0, MISTAKES)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => withoutLinks(cell.replace(/ \(\[.*\]\(.*\)\)/, '').trim())),
    )
    .map(([there, here]) => `- There ${there}. Here ${here}.`)
    .join('\n');
}

/** The first sentences of README, which say what this is. */
function summary() {
  const [, first = ''] = /\*\*([^*]+)\*\*/.exec(textOf('README.md')) ?? [];
  return first.replaceAll('\n', ' ');
}

/** @param {string} text @param {string} beginning of its first row */
function tableAfter(text, beginning) {
  const [table = ''] = text.slice(text.indexOf(beginning)).split('\n\n');
  return table;
}

/** @param {string} text @param {string} beginning */
function blockAfter(text, beginning) {
  const from = text.indexOf(beginning);
  return text.slice(from, text.indexOf('\n```', from + 3) + 4);
}

function withoutLinks(/** @type {string} */ text) {
  return text.replace(LINK, '$1');
}

function textOf(/** @type {string} */ file) {
  return readFileSync(join(root, file), 'utf8');
}

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { agentTexts } from '../../scripts/agent-texts.mjs';
import { pagesWithTables } from '../../scripts/docs-tables.mjs';

it.each(await pagesWithTables())('%s has the tables that `npm run trial -- docs-tables` writes', (page, text) => {
  expect(readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')).toBe(text);
});

it.each(await agentTexts())('%s is what `npm run trial -- docs-tables` makes of the docs', (file, text) => {
  expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')).toBe(text);
});

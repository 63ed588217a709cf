import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { pagesWithTables } from '../../scripts/docs-tables.mjs';

it.each(await pagesWithTables())('%s has the tables that `npm run docs:tables` writes', (page, text) => {
  expect(readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8')).toBe(text);
});

import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CLIENT_KINDS } from '../redis/faults/clients.ts';
import { FAULTS } from '../redis/faults/faults.ts';

const page = readFileSync(new URL('../../docs/for-years.md', import.meta.url), 'utf8');

it('each drill of docs/for-years.md is one that `npm run trial -- faults` has, or a file of tests', () => {
  const chosen = [...page.matchAll(/--only "([^"]+)"/g)].map(([, words = '']) => words.split(','));
  expect(chosen.length).toBe(4);
  const faults = new Set(FAULTS.map(({ name }) => name));
  const libraries = new Set<string>(CLIENT_KINDS.map(({ library }) => library));
  for (const [fault = '', library = ''] of chosen) {
    expect(faults).toContain(fault);
    expect(libraries).toContain(library);
  }
  const files = [...page.matchAll(/vitest run --project faults (\S+\.ts)/g)].map(([, file = '']) => file);
  expect(files.length).toBe(2);
  expect(files.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url)))).toEqual([]);
});

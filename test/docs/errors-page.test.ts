import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

it('the page of errors has a heading for each code that there is, and for no other', () => {
  const codes = [...read('packages/core/src/checks/errors.ts').matchAll(/^ {2}\| '(ERR_\w+)'/gm)].map(
    ([, code]) => code,
  );
  const headings = [...read('docs/errors.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  expect(codes.length).toBeGreaterThan(10);
  expect(headings).toEqual(codes);
});

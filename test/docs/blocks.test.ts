import { expect, it } from 'vitest';
import { blocksOf, pages } from './blocks.ts';
import { compiled } from './compile.ts';

const all = pages();
const wrong = { page: 'a page with an error', line: 10, code: 'const one = 1;\nconst two: string = one;' };
const { ofBlocks, ofImports } = compiled([...all.flatMap(blocksOf), wrong]);

it.each(all)('every ts block of %s compiles against the sources', (page) => {
  expect(ofBlocks.filter((error) => error.startsWith(`${page}:`))).toEqual([]);
});

it('an error in a block names its page and line, and nothing but the blocks has errors', () => {
  expect(ofBlocks.filter((error) => !all.some((page) => error.startsWith(`${page}:`)))).toEqual([
    "a page with an error:11: Type 'number' is not assignable to type 'string'.",
  ]);
});

// `npm run check -- lint` finds the same errors in the sources.
it.runIf(process.env['SLUICE_ALL_CASES'] === 'yes')(
  'the packages and declarations behind the blocks compile too',
  () => {
    expect(ofImports()).toEqual([]);
  },
);

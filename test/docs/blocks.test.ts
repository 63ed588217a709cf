import { expect, it } from 'vitest';
import { blocksOf, pages } from './blocks.ts';
import { compileErrors } from './compile.ts';

const all = pages();
const errors = compileErrors(all.flatMap(blocksOf));

it.each(all)('every ts block of %s compiles against the sources', (page) => {
  expect(errors.filter((error) => error.startsWith(`${page}:`))).toEqual([]);
});

it('the packages and declarations behind the blocks compile too', () => {
  expect(errors.filter((error) => !all.some((page) => error.startsWith(`${page}:`)))).toEqual([]);
});

it('an error in a block names its page and line', () => {
  expect(
    compileErrors([{ page: 'docs/guide.md', line: 10, code: 'const one = 1;\nconst two: string = one;' }]),
  ).toEqual(["docs/guide.md:11: Type 'number' is not assignable to type 'string'."]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { blocksOf } from './blocks.ts';

const folder = new URL('code/recipes/', import.meta.url);

it('docs/recipes.md shows the recipes that are tested in test/docs/recipes, and nothing else', () => {
  const files = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  const blocks = blocksOf('docs/recipes.md').map((block) => block.code);
  expect(blocks.toSorted()).toEqual(files.toSorted());
});

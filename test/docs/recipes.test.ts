import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { blocksOf } from './blocks.ts';

const folder = new URL('code/recipes/', import.meta.url);
const recipes = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');

it('docs/recipes.md shows the recipes that are tested in test/docs/recipes, and nothing else', () => {
  const files = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));
  const blocks = blocksOf('docs/recipes.md').map((block) => block.code);
  expect(blocks.toSorted()).toEqual(files.toSorted());
});

it('docs/recipes.md shows the Worker that test/packed runs in workerd', () => {
  const [, shown] = /^```js\n(.*?)^```/ms.exec(recipes) ?? [];
  expect(shown).toBe(readFileSync(new URL('../packed/consumer/durable-object.mjs', import.meta.url), 'utf8'));
});

it('each recipe has a line that installs what it imports', () => {
  const withCode = recipes.split(/^(?=## )/m).filter((recipe) => recipe.includes('```ts\n'));
  expect(withCode.length).toBe(blocksOf('docs/recipes.md').length);
  for (const recipe of withCode) {
    const [title, code] = [/^## (.*)/.exec(recipe)?.[1], /^```ts\n(.*?)^```/ms.exec(recipe)?.[1] ?? ''];
    const [, packages] = /^`npm install (.*)`$/m.exec(recipe) ?? [];
    expect({ title, packages }).toEqual({ title, packages: packagesOf(code).join(' ') });
  }
});

/** The packages that code imports, ours first. */
function packagesOf(code: string): readonly string[] {
  const imported = [...code.matchAll(/from '((?:@[^/']+\/)?[^/':]+)/g)].map(([, name]) => name!);
  const names = imported.filter((name) => name !== 'node');
  const isOurs = (name: string): boolean => name.startsWith('@sluice/');
  const peers = names.includes('@sluice/redis') ? ['ioredis'] : [];
  return [...new Set([...names, ...peers])].toSorted(
    (a, b) => Number(isOurs(b)) - Number(isOurs(a)) || (a < b ? -1 : 1),
  );
}

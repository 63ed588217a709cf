import { hostStore } from '@sluice/host';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownFolder } from './own-folder.ts';

const own = ownFolder();

// nodejs/node#51142: package managers link packages, and a module with two names is loaded twice, or half.
test('after a store has looked at its socket, Node still follows links to modules', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'sluice-linked-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
  for (const name of ['before', 'after']) {
    writeFileSync(join(folder, 'real', `${name}.cjs`), 'module.exports = __filename;');
  }
  const require = createRequire(import.meta.url);
  expect(require(join(folder, 'link/before.cjs'))).toBe(join(folder, 'real/before.cjs'));

  const store = hostStore({ socket: own.socket, log: false });
  own.opened.push(store);
  await store.ready();

  expect(require(join(folder, 'link/after.cjs'))).toBe(join(folder, 'real/after.cjs'));
});

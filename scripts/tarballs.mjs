// `npm run tarballs` packs every package into tarballs/, for a project outside this clone.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { packAll } from './pack.mjs';
import { root } from './pnpm.mjs';

const folder = join(root, 'tarballs');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);

console.log('Install what you need in your project; every adapter needs sluice-core beside it:');
for (const tarball of packAll(folder)) console.log(`  npm install ${tarball}`);

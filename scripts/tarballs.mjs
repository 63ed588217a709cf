// `npm run tarballs` packs every package into tarballs/, for a project outside this clone.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installLines } from './install-lines.mjs';
import { packAll } from './pack.mjs';
import { root } from './pnpm.mjs';

const folder = join(root, 'tarballs');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);

const lines = installLines(packAll(folder));
console.log(`In your project, run the line of your framework:\n\n${lines.join('\n')}`);

// `npm run tarballs` packs every package into tarballs/, for a project outside this clone.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandLines, installLines } from './install-lines.mjs';
import { packCommand } from './pack-command.mjs';
import { packAll } from './pack.mjs';
import { root } from './pnpm.mjs';

const folder = join(root, 'tarballs');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);

const paths = await packAll(folder);
const lines = installLines(paths);
const ofCommand = commandLines(packCommand(paths, folder));
console.log(`In your project, run the line of your framework:\n\n${lines.join('\n')}\n\n${ofCommand.join('\n')}`);

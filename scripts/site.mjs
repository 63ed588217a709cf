// `npm run site` builds the site into site/.vitepress/dist; `npm run site -- dev` serves it while its pages are edited, and
// `npm run site -- preview` serves what was built.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './pnpm.mjs';

const [command = 'build', ...args] = process.argv.slice(2);
if (command !== 'preview') run('typedoc', '--options', 'site/typedoc.config.mjs');
run('vitepress', command, 'site', ...args);

/** @param {string} program of site/node_modules/.bin @param {string[]} args */
function run(program, ...args) {
  const { status } = spawnSync(join(root, 'site', 'node_modules', '.bin', program), args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

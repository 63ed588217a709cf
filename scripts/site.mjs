// `npm run site` builds the site into site/.vitepress/dist; `npm run site -- dev` serves it while its pages are edited, and
// `npm run site -- preview` serves what was built.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { divideLongPages } from './api-pages.mjs';
import { exampleLog } from './example-log.mjs';
import { root } from './pnpm.mjs';

const [command = 'build', ...options] = process.argv.slice(2);
if (command !== 'preview') {
  run('typedoc', '--options', 'site/typedoc.config.mjs');
  divideLongPages(join(root, 'site/api'));
  writeReplayReport();
}
run('vitepress', command, 'site', ...options);

/** Writes the report that the landing page links to: of the log and the limits of docs/choosing-numbers.md. */
function writeReplayReport() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-replay-'));
  const [log, limits] = [join(folder, 'access.log'), join(folder, 'limits.yaml')];
  writeFileSync(log, `${exampleLog().join('\n')}\n`);
  writeFileSync(limits, 'Requests: { count: 40, period: 1m, burst: 36, idFormat: clientNetwork }\n');
  const report = join(root, 'site/public/replay-report.html');
  const sluice = join(root, 'tools/cli/dist/main.js');
  const { status } = spawnSync(
    process.execPath,
    [sluice, 'replay', log, '--limits', limits, '--show-ids', '--html', report],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  rmSync(folder, { recursive: true });
  if (status !== 0) process.exit(status ?? 1);
}

/** @param {string} program of site/node_modules/.bin @param {string[]} args */
function run(program, ...args) {
  const { status } = spawnSync(join(root, 'site', 'node_modules', '.bin', program), args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

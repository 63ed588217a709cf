// Tests packages/ai with each version of the AI SDK that it supports, on the versions of Node that run it: the random calls
// are 100,000 then, or as many as `-- --calls 1000` says.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './pnpm.mjs';

const VERSIONS = [
  { ai: '6', node: '20' },
  { ai: '7', node: '22' },
  { ai: '7', node: '24' },
];

const { values } = parseArgs({ options: { calls: { type: 'string', default: '100000' } } });

for (const { ai, node } of VERSIONS) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ai-'));
  try {
    run('npm', [
      'install',
      '--prefix',
      folder,
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      `ai@${ai}`,
      `node@${node}`,
    ]);
    const installed = join(folder, 'node_modules');
    console.log(`ai ${versionOf(join(installed, 'ai'))} on Node ${versionOf(join(installed, 'node'))}`);
    const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'unit', 'packages/ai/test'];
    run(join(installed, '.bin/node'), vitest, { SLUICE_AI: join(installed, 'ai'), SLUICE_AI_CALLS: values.calls });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder */
function versionOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
function run(command, args, env = {}) {
  const { status } = spawnSync(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

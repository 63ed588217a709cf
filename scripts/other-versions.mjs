// Runs the tests of a package with other versions of its peers, and on other versions of Node, than this clone has.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './pnpm.mjs';

/**
 * Installs packages in a folder of their own and runs the tests in a folder of this clone there. Ends the process when they fail.
 *
 * @param {{ tests: string | readonly string[], projects?: readonly string[], node: string, packages?: readonly string[],
 *   env?: (installed: string) => Record<string, string> }} settings The versions, as npm writes them: `ai@6`; `env` gets the
 *   `node_modules` with the packages, which vitest.config.ts puts in the place of ours.
 */
export function testWithVersions({ tests, projects = ['unit'], node, packages = [], env = () => ({}) }) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-versions-'));
  try {
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    run('npm', ['install', '--prefix', folder, ...quiet, ...packages, `node@${node}`]);
    const installed = join(folder, 'node_modules');
    const [nodeVersion, ...versions] = ['node', ...packages.map((each) => each.replace(/(?<=.)@.*/, ''))].map(
      (name) => `${name} ${versionOf(join(installed, name))}`,
    );
    console.log(`${versions.join(', ') || 'Tests'} on ${nodeVersion}`);
    const chosen = projects.map((name) => `--project=${name}`);
    const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...chosen, ...[tests].flat()];
    run(join(installed, '.bin/node'), vitest, env(installed));
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

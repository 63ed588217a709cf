import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs the pnpm that package.json names, which npx fetches once: nobody has to install it.
 *
 * @param {string[]} args
 * @param {import('node:child_process').StdioOptions} stdio
 */
export function pnpm(args, stdio = 'inherit') {
  const { packageManager } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  return spawnSync('npx', ['--yes', packageManager, ...args], {
    cwd: root,
    env: nestedNpxEnvironment(),
    stdio,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
}

// Under `npx -p node@22 -c 'npm test'` these two reach every child, and a nested npx would run that command again.
function nestedNpxEnvironment() {
  const { npm_config_call: _call, npm_config_package: _package, ...env } = process.env;
  return env;
}

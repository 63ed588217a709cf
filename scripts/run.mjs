import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { root } from './pnpm.mjs';

/**
 * Runs a program, also one of node_modules/.bin, silently.
 *
 * @param {string} command words without spaces in them
 * @param {Readonly<Record<string, string>>} env what its environment has besides
 * @returns {Promise<string>} what it printed; rejects with that when it failed
 */
export function run(command, env = {}) {
  const path = join(root, 'node_modules', '.bin') + delimiter + process.env.PATH;
  const child = spawn(command, {
    cwd: root,
    env: { ...process.env, ...env, PATH: path },
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`$ ${command}\n${output}`))));
  });
}

import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';

/**
 * @typedef {object} Machine
 * @property {string} processor
 * @property {number} cores
 * @property {number} memoryGb
 * @property {string} system
 * @property {string} node
 */

/** @returns {Machine} What the figures were measured on. */
export function machine() {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.versions.node,
  };
}

/** @returns {Record<string, string>} The installed version of every library that is measured, and the commit of ours. */
export function versions() {
  const { devDependencies } = readJson(new URL('../package.json', import.meta.url));
  const names = Object.keys(devDependencies ?? {}).filter((name) => !name.startsWith('@types/'));
  const installed = names.map((name) => [name, installedVersion(name)]);
  return { ...Object.fromEntries(installed), commit: commit() };
}

/** @param {string} name */
function installedVersion(name) {
  const places = createRequire(import.meta.url).resolve.paths(name) ?? [];
  for (const place of places) {
    try {
      return readJson(`${place}/${name}/package.json`).version;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
    }
  }
  throw new Error(`${name} is not installed: run \`npm run setup\`.`);
}

/**
 * @param {string | URL} file
 * @returns {{ version: string, devDependencies?: Record<string, string> }}
 */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

function commit() {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return 'not a clone';
  }
}

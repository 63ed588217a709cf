// Makes a clone ready for `npm start`, `npm test` and `npm run check`: installs when the lockfile or a manifest
// changed since the last time, then builds what changed. With nothing to do it takes about a second. With `--declarations`
// it also writes the types of the packages, which only tests and checks read in a clone.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildPackages, declarePackages } from './build.mjs';
import { pnpm, root } from './pnpm.mjs';
import { writeTextModules } from './text-modules.mjs';

const stamp = join(root, 'node_modules', '.sluice-installed');

const hooks = 'scripts/hooks';

refuseOldNode();
installIfChanged();
if (process.env.CI === undefined && existsSync(join(root, '.git'))) useHooks();
writeTextModules();
await (process.argv.includes('--declarations') ? declarePackages() : buildPackages());

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  if (!supported) {
    fail(
      `Sluice needs Node ^20.19.0 || >=22.12.0, but this is ${process.version}. Install one of those and try again.`,
    );
  }
}

function installIfChanged() {
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === manifestsHash()) return;
  console.log('setup: installing dependencies');
  const { status } = pnpm(['install', '--reporter=append-only', '--config.confirmModulesPurge=false']);
  if (status !== 0) fail('setup: the install failed; its reason is above. It needs to reach an npm registry.');
  writeFileSync(stamp, manifestsHash());
}

/** Tells git of our hooks, unless it has a folder of hooks already, or hooks of yours in its own. */
function useHooks() {
  if (git('config', '--get', 'core.hooksPath').status !== 1) return;
  const own = git('rev-parse', '--git-path', 'hooks');
  if (own.status !== 0 || hasHooks(join(root, own.stdout.trim()))) return;
  git('config', 'core.hooksPath', hooks);
}

/** @param {string} folder */
function hasHooks(folder) {
  return existsSync(folder) && readdirSync(folder).some((name) => !name.endsWith('.sample'));
}

/** @param {string[]} args */
function git(...args) {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' });
}

function manifestsHash() {
  const hash = createHash('sha256');
  for (const file of manifests()) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function manifests() {
  const inFolders = ['packages', 'tools', 'examples'].flatMap((folder) =>
    existsSync(join(root, folder)) ? readdirSync(join(root, folder)).map((name) => join(folder, name)) : [],
  );
  return ['.', 'test', 'bench', 'site', ...inFolders]
    .map((folder) => join(folder, 'package.json'))
    .concat('pnpm-lock.yaml', 'pnpm-workspace.yaml')
    .filter((file) => existsSync(join(root, file)));
}

/**
 * @param {string} message
 * @returns {never}
 */
function fail(message) {
  console.error(message);
  process.exit(1);
}

import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/pnpm.mjs';

/**
 * The commit whose packages stand for the release before this one, until there is a release. They speak version 4 of the protocol
 * of the host store, and use `sluice_run_v1` in PostgreSQL.
 */
const OLD_COMMIT = '8e6b65c6';

const CACHE = join(root, 'node_modules', '.cache', 'sluice-formats');
const PACKAGES = ['core', 'redis', 'postgres', 'host'];
/** What they need of others, and find in the folder of the tests. */
const PEERS = ['ioredis', 'pg'];

/** Whether this clone has the commit: one without a history has not. */
export function hasOldCommit(): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${OLD_COMMIT}^{commit}`], { cwd: root, stdio: 'ignore' });
    return true;
  } catch {
    console.warn(`SKIPPED: two versions beside each other. This clone lacks ${OLD_COMMIT}: git fetch --unshallow`);
    return false;
  }
}

/**
 * Installs the packages of {@link OLD_COMMIT} from their tarballs, which takes half a minute the first time.
 *
 * @returns A folder. A program in it imports them by their names.
 */
export function oldPackages(): string {
  const folder = join(CACHE, OLD_COMMIT);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const temporary = mkdtempSync(`${folder}-`);
  const clone = join(temporary, 'clone');
  checkOut(clone);
  run(clone, 'node', 'scripts/setup.mjs');
  run(clone, 'npm', 'run', '--silent', 'tarballs');
  const made = join(temporary, 'made');
  for (const name of PACKAGES) unpack(clone, made, name);
  run(made, 'tar', '-xzf', join(clone, 'tarballs', 'sluice.tgz'), '--one-top-level=command', '--strip-components=1');
  cpSync(join(clone, 'api'), join(made, 'api'), { recursive: true });
  linkPeers(clone, made);
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another process has made it meanwhile.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return folder;
}

/** Copies a program into the folder of the old packages, which it then imports. */
export function oldProgram(path: string, name: string): string {
  const copy = join(oldPackages(), name);
  copyFileSync(path, copy);
  return copy;
}

/** The program of the old command. */
export function oldCommand(): string {
  return join(oldPackages(), 'command', 'dist', 'main.js');
}

function checkOut(clone: string): void {
  try {
    run(root, 'git', 'clone', '--quiet', '--shared', '--no-checkout', root, clone);
    run(clone, 'git', 'checkout', '--quiet', OLD_COMMIT);
  } catch (cause) {
    throw new Error(`The commit ${OLD_COMMIT} is not in this clone. Get the history: git fetch --unshallow`, { cause });
  }
}

function unpack(clone: string, made: string, name: string): void {
  const folder = join(made, 'node_modules', '@sluice', name);
  mkdirSync(folder, { recursive: true });
  const tarballs = join(clone, 'tarballs');
  const tarball = readdirSync(tarballs).find((file) => file.startsWith(`sluice-${name}-`))!;
  run(made, 'tar', '-xzf', join(tarballs, tarball), '-C', folder, '--strip-components=1');
}

/** Links what the packages import of others: `npm install` would need a registry. */
function linkPeers(clone: string, made: string): void {
  const modules = join(made, 'node_modules');
  for (const name of PEERS) symlinkSync(join(root, 'test', 'node_modules', name), join(modules, name));
  const { dependencies = {} } = JSON.parse(readFileSync(join(modules, '@sluice/core/package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    execFileSync('cp', ['-RL', join(clone, 'packages/core/node_modules', name), join(modules, name)]);
  }
}

function run(cwd: string, command: string, ...args: readonly string[]): void {
  // The old scripts take this clone for a checkout of CI, and set no hooks.
  execFileSync(command, args, {
    cwd,
    env: { ...process.env, CI: 'true', NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

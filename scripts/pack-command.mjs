import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const COMMAND = '@sluice/cli';
/** Files that the command does not need: types, source maps and CommonJS builds. */
const LEFT_OUT = ['@sluice/*/dist/cjs', '*.d.ts', '*.d.mts', '*.map'];

/**
 * Packs the command with everything that it depends on into one file, from which `npx` runs it while the packages of
 * Sluice are not published.
 *
 * @param {readonly string[]} paths the tarballs of all packages
 * @param {string} folder where the file goes
 * @returns {string} its path
 */
export function packCommand(paths, folder) {
  const temporary = mkdtempSync(join(tmpdir(), 'sluice-command-'));
  try {
    const needed = ['core', 'config', 'redis', 'postgres', 'host', 'domains', 'serve', 'cli'].map((name) =>
      tarballOf(`@sluice/${name}`, paths),
    );
    const options = ['--prefix', temporary, '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
    execFileSync('npm', ['install', ...options, ...needed], { shell: process.platform === 'win32' });
    const unpacked = join(temporary, 'package');
    renameSync(join(temporary, 'node_modules', COMMAND), unpacked);
    renameSync(join(temporary, 'node_modules'), join(unpacked, 'node_modules'));
    const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8'));
    manifest.bundleDependencies = Object.keys(manifest.dependencies);
    writeFileSync(join(unpacked, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
    const file = join(folder, 'sluice.tgz');
    const excludes = LEFT_OUT.map((each) => `--exclude=${each}`);
    execFileSync('tar', ['-czf', file, '-C', temporary, ...excludes, 'package']);
    return file;
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/**
 * @param {string} name of a package
 * @param {readonly string[]} paths
 */
export function tarballOf(name, paths) {
  const file = name.replace('@', '').replace('/', '-');
  const path = paths.find((each) => basename(each).startsWith(`${file}-`));
  if (path === undefined) throw new Error(`There is no tarball of ${name}. Run npm run tarballs again.`);
  return path;
}

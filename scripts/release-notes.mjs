import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFirstRelease, latestEntry, manifestOf } from './release-demands.mjs';

/** All that `changeset version` reads and writes. */
const VERSIONED = [
  '.changeset',
  'pnpm-workspace.yaml',
  '*package.json',
  'packages/*/CHANGELOG.md',
  'tools/*/CHANGELOG.md',
];

/** @typedef {import('./release-demands.mjs').Clone} Clone */

/**
 * The entry of the next version in the CHANGELOG of each package. Changesets are applied to a copy: nothing changes.
 *
 * @param {Clone} clone
 * @returns {string[]} one text for each package
 */
export function releaseNotes(clone) {
  // Before the first release, changesets describe changes of what nobody has.
  if (isFirstRelease(clone) || clone.changesets.length === 0) return entriesIn(clone.folder, clone);
  const copy = copyOfVersions(clone.folder);
  try {
    applyChangesets(copy);
    return entriesIn(copy, clone);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/**
 * @param {string} folder a clone
 * @returns {string} a folder with what `changeset version` needs of it
 */
export function copyOfVersions(folder) {
  const copy = mkdtempSync(join(tmpdir(), 'sluice-release-'));
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...VERSIONED];
  const files = new Set(execFileSync('git', listed, { cwd: folder, encoding: 'utf8' }).trimEnd().split('\n'));
  for (const file of files) {
    // What was deleted and not committed is listed too.
    if (existsSync(join(folder, file))) cpSync(join(folder, file), join(copy, file));
  }
  symlinkSync(join(folder, 'node_modules'), join(copy, 'node_modules'), 'junction');
  execFileSync('git', ['init', '--quiet'], { cwd: copy });
  return copy;
}

/**
 * Makes the next version of all packages.
 *
 * @param {string} folder
 */
export function applyChangesets(folder) {
  const changeset = join(folder, 'node_modules', '@changesets', 'cli', 'bin.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [changeset, 'version'], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`\`changeset version\` failed:\n${stdout}${stderr}`);
}

/** @param {string} folder @param {Clone} clone */
function entriesIn(folder, { packages }) {
  return packages.map((each) => `# ${manifestOf(folder, each).name}\n\n${latestEntry(join(folder, each)).trim()}`);
}

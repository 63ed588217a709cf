import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { declarePackages } from './build.mjs';
import { packageFolders } from './package-folders.mjs';
import { pnpm, root } from './pnpm.mjs';

const cache = join(root, 'node_modules', '.cache', 'sluice-tarballs');
/** What a tarball depends on, apart from the files of its package. */
const SHARED = [
  'LICENSE',
  'package.json',
  'pnpm-workspace.yaml',
  'pnpm-lock.yaml',
  '.pnpmfile.cjs',
  'tsconfig.json',
  'scripts/build.mjs',
];
/** What does not go into a tarball, or is made of the rest. */
const LEFT_OUT = new Set(['node_modules', 'test', 'coverage', 'dist', 'types']);

/**
 * Packs every published package as a release would, with code and declarations that are built first if
 * they are not those of the sources. `workspace:` ranges become versions, and the sources leave `exports`: see
 * .pnpmfile.cjs.
 *
 * @param {string} folder where the tarballs go; must be empty
 * @returns {Promise<string[]>} their paths
 */
export async function packAll(folder) {
  await declarePackages();
  const folders = packageFolders(root).flatMap((each) => ['--filter', `./${each}`]);
  const { status, stdout, stderr } = pnpm(['--recursive', ...folders, 'pack', '--pack-destination', folder], 'pipe');
  if (status !== 0) throw new Error(`pnpm pack failed:\n${stdout}${stderr}`);
  return tarballsIn(folder);
}

/**
 * The same tarballs for all tests and checks of one state of the packages: packing takes longer than most of them.
 *
 * @returns {Promise<string[]>} their paths; nobody may change them
 */
export async function packedOnce() {
  const key = contentKey();
  const folder = join(cache, key);
  if (existsSync(folder)) return tarballsIn(folder);
  mkdirSync(cache, { recursive: true });
  for (const old of readdirSync(cache)) {
    if (!old.startsWith(key)) rmSync(join(cache, old), { recursive: true, force: true });
  }
  const temporary = mkdtempSync(`${folder}-`);
  await packAll(temporary);
  try {
    renameSync(temporary, folder);
  } catch (error) {
    // Another process packed the same at the same time.
    if (!existsSync(folder)) throw error;
    rmSync(temporary, { recursive: true });
  }
  return tarballsIn(folder);
}

/** Two states of the packages that differ in any file that is packed have different keys. */
function contentKey() {
  const hash = createHash('sha256');
  const packages = packageFolders(root).map((each) => join(root, each));
  for (const file of [...SHARED.map((name) => join(root, name)), ...packages.flatMap(filesOf)]) {
    const content = createHash('sha256').update(readFileSync(file)).digest('hex');
    hash.update(`${relative(root, file)} ${content}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => !LEFT_OUT.has(name))
    .flatMap((entry) => (entry.isDirectory() ? filesOf(join(folder, entry.name)) : [join(folder, entry.name)]));
}

/** @param {string} folder */
function tarballsIn(folder) {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => join(folder, file));
}

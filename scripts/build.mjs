import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './pnpm.mjs';

/** Files that are run by their name: the command, and the thread that parses files. */
const PROGRAMS = ['main', 'parse-worker'];

/** What a package imports of others, and of Node; not the helpers by which rolldown writes newer syntax in older one. */
const OF_OTHERS = /^node:|^(?!@oxc-project\/runtime)@?[a-z][^:]*$/;

/** What each package of `packages/` was built from the last time: hashes by folder. */
const built = join(root, 'node_modules', '.sluice-built');

/**
 * A package, and its entries: the files that others import or run, by their names in dist.
 *
 * @typedef {{ folder: string, isProgram: boolean, entries: Record<string, string> }} Package
 */

/**
 * Builds the packages that changed into dist: each entry is a file, and what entries share is in files beside them, so that
 * no module exists twice. It does not check types.
 */
export async function buildPackages() {
  const before = readJson(built) ?? {};
  const outdated = publishedPackages().filter(
    ({ folder }) => before[folder] !== contentHash(folder) || !existsSync(join(root, folder, 'dist')),
  );
  if (outdated.length === 0) return;
  const { rolldown } = await import('rolldown');
  await Promise.all(outdated.map((each) => buildPackage(rolldown, each)));
  const hashes = outdated.map(({ folder }) => [folder, contentHash(folder)]);
  writeFileSync(built, JSON.stringify({ ...before, ...Object.fromEntries(hashes) }));
}

/**
 * Writes the declarations of the packages into dist: as few files as there are of their code, whose types exist once for
 * `import` and `require`, because at run time their classes do.
 */
export async function declarePackages() {
  compileTypes();
  const [{ rollup }, { dts }] = await Promise.all([import('rollup'), import('rollup-plugin-dts')]);
  for (const { folder, isProgram, entries } of publishedPackages()) {
    if (isProgram) continue;
    const cwd = join(root, folder);
    const declarations = Object.entries(entries)
      .filter(([name]) => !PROGRAMS.includes(name))
      .map(([name, source]) => [name, join(cwd, source.replace('./src/', 'types/').replace(/\.ts$/, '.d.ts'))]);
    // oxlint-disable-next-line no-await-in-loop -- it uses one processor
    const bundle = await rollup({
      input: Object.fromEntries(declarations),
      external: OF_OTHERS,
      plugins: [dts()],
      // It names each type that is in no entry: those are not for users.
      onLog: () => {},
    });
    // oxlint-disable-next-line no-await-in-loop
    await bundle.write({
      dir: join(cwd, 'dist', 'cjs'),
      entryFileNames: '[name].d.ts',
      chunkFileNames: ({ name }) => `${name.replace(/\.d$/, '')}-part.d.ts`,
      minifyInternalExports: false,
    });
    for (const [name] of declarations) {
      writeFileSync(join(cwd, 'dist', `${name}.d.mts`), `export * from './cjs/${name}.js';\n`);
    }
  }
}

/** Checks the types of all packages, and writes the declarations of each module into `types`. */
export function compileTypes() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [tsc, '--build'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('The types of the packages have errors: see above.');
}

/** @returns {Package[]} what is published, with the entries of its manifest */
export function publishedPackages() {
  return readdirSync(join(root, 'packages')).map((name) => {
    const folder = `packages/${name}`;
    const { exports, bin } = readJson(join(root, folder, 'package.json'));
    const exported = Object.entries(exports).flatMap(([path, { '@sluice/source': source }]) =>
      source === undefined ? [] : [[path === '.' ? 'index' : basename(path), source]],
    );
    const programs = PROGRAMS.filter((program) => existsSync(join(root, folder, 'src', `${program}.ts`)));
    const entries = Object.fromEntries([...exported, ...programs.map((program) => [program, `./src/${program}.ts`])]);
    return { folder, isProgram: bin !== undefined, entries };
  });
}

/**
 * @param {typeof import('rolldown').rolldown} rolldown
 * @param {Package} built
 */
async function buildPackage(rolldown, { folder, isProgram, entries }) {
  const cwd = join(root, folder);
  rmSync(join(cwd, 'dist'), { recursive: true, force: true });
  const bundle = await rolldown({
    cwd,
    input: entries,
    external: OF_OTHERS,
    platform: 'node',
    tsconfig: join(root, 'tsconfig.base.json'),
  });
  const names = {
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-part.js',
    comments: false,
    minifyInternalExports: false,
  };
  await bundle.write({ ...names, dir: join(cwd, 'dist'), format: 'es' });
  // Node runs a program as ES modules.
  if (!isProgram) {
    // Only old loaders read it. Names of functions stay, for stack traces.
    const minify = { compress: false, mangle: false, codegen: { removeWhitespace: true } };
    const dir = join(cwd, 'dist', 'cjs');
    await bundle.write({ ...names, dir, format: 'cjs', exports: 'named', minify });
    writeFileSync(join(dir, 'package.json'), '{ "type": "commonjs" }\n');
  }
  await bundle.close();
}

/**
 * @param {string} folder of a package
 * @returns {string} of all that its build depends on
 */
function contentHash(folder) {
  const sources = readdirSync(join(root, folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, 'src', file));
  const hash = createHash('sha256');
  for (const file of [fileURLToPath(import.meta.url), ...shared(folder), ...sources]) {
    hash.update(`${file}\n`).update(readFileSync(join(file.startsWith(root) ? '' : root, file)));
  }
  return hash.digest('hex');
}

/** @param {string} folder of a package */
function shared(folder) {
  return ['tsconfig.base.json', 'pnpm-lock.yaml', `${folder}/package.json`];
}

/** @param {string} file */
function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFolders } from './package-folders.mjs';
import { root } from './pnpm.mjs';

/** Files that are run by their name: the command. */
const PROGRAMS = ['main'];

/** What a declaration imports of others, and of Node. */
const OF_OTHERS = /^node:|^@?[a-z][^:]*$/;

/**
 * Shared modules whose sources have fewer bytes join a larger file beside them, also for entries that do not need that one:
 * each file that is loaded takes Node a third of a millisecond.
 */
const SMALL_PART = 100_000;

/** Core, whose entries have most of their modules in common: those are one file. */
const CORE = 'packages/core';

/** What only programs with a limit of another kind than a rate load: it never joins another file. */
const OF_KINDS =
  /core\/src\/(kinds\/(borrow|concurrency|load|quota)|calendar|definitions\/overrides\/(ending-override|override-end)|store\/memory\/(slot-|slots-|dump))/;

/** In each dist: the licences of the packages whose code is in it. */
const LICENCES = 'THIRD-PARTY.txt';

/**
 * A package, its entries: the files that others import or run, by their names in dist, and the names of the packages that are
 * installed with it.
 *
 * @typedef {{ folder: string, isProgram: boolean, entries: Record<string, string>, installed: string[] }} Package
 */

/**
 * Builds the packages that changed into dist: each entry is a file, and what entries share is in files beside them, so that
 * no module exists twice. It does not check types.
 */
export async function buildPackages() {
  const outdated = outdatedPackages('built');
  if (outdated.length === 0) return;
  const { rolldown } = await import('rolldown');
  await Promise.all(outdated.map((each) => buildPackage(rolldown, each)));
  remember('built', outdated);
}

/**
 * Builds the packages and writes their declarations into dist: as few files as there are of their code, whose types exist once for
 * `import` and `require`, because at run time their classes do.
 */
export async function declarePackages() {
  await buildPackages();
  const outdated = outdatedPackages('declared').filter(({ isProgram }) => !isProgram);
  if (outdated.length === 0) return;
  const [{ rollup }, { dts }] = await Promise.all([import('rollup'), import('rollup-plugin-dts')]);
  for (const { folder, entries } of outdated) {
    const cwd = join(root, folder);
    // oxlint-disable-next-line no-await-in-loop -- it uses one processor
    await writeTypes(cwd);
    const declarations = Object.entries(entries)
      .filter(([name]) => !PROGRAMS.includes(name))
      .map(([name, source]) => [name, join(cwd, source.replace('./src/', 'types/').replace(/\.ts$/, '.d.ts'))]);
    // oxlint-disable-next-line no-await-in-loop -- it uses one processor
    const bundle = await rollup({
      input: Object.fromEntries(declarations),
      external: OF_OTHERS,
      plugins: [dts()],
      // The plugin names each type that is in no entry: those are not for users.
      onLog: (level, log, show) => (log.plugin === 'dts' ? undefined : show(level, log)),
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
  remember('declared', outdated);
}

/**
 * Writes the declarations of each module of a package into `types`.
 *
 * @param {string} cwd the folder of the package
 */
async function writeTypes(cwd) {
  const { isolatedDeclarationSync } = await import('rolldown/experimental');
  rmSync(join(cwd, 'types'), { recursive: true, force: true });
  for (const file of sourcesIn(cwd)) {
    const { code, errors } = isolatedDeclarationSync(file, readFileSync(join(cwd, 'src', file), 'utf8'));
    if (errors.length > 0) throw new Error(errors.map(({ codeframe, message }) => codeframe ?? message).join('\n'));
    const target = join(cwd, 'types', file.replace(/\.ts$/, '.d.ts'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
}

/** @returns {Package[]} what is published, with the entries of its manifest */
function publishedPackages() {
  return packageFolders(root).map((folder) => {
    const { exports, bin, dependencies, peerDependencies } = readJson(join(root, folder, 'package.json'));
    const exported = Object.entries(exports).flatMap(([path, { '@sluice/source': source }]) =>
      source === undefined ? [] : [[path === '.' ? 'index' : basename(path), source]],
    );
    const programs = PROGRAMS.filter((program) => existsSync(join(root, folder, 'src', `${program}.ts`)));
    const entries = Object.fromEntries([...exported, ...programs.map((program) => [program, `./src/${program}.ts`])]);
    const installed = Object.keys({ ...dependencies, ...peerDependencies });
    return { folder, isProgram: bin !== undefined, entries, installed };
  });
}

/**
 * @param {typeof import('rolldown').rolldown} rolldown
 * @param {Package} built
 */
async function buildPackage(rolldown, { folder, isProgram, entries, installed }) {
  const cwd = join(root, folder);
  const { version } = readJson(join(cwd, 'package.json'));
  rmSync(join(cwd, 'dist'), { recursive: true, force: true });
  const bundle = await rolldown({
    cwd,
    input: entries,
    // What is a devDependency alone becomes a part of the package.
    external: [/^node:/, ...installed.map((name) => new RegExp(`^${name}(/|$)`))],
    platform: 'node',
    tsconfig: join(root, 'tsconfig.json'),
    // A limit of one copy of a package and a limiter of another compare their versions.
    transform: { define: { SLUICE_VERSION: JSON.stringify(version) } },
  });
  /** @type {import('rolldown').OutputOptions} */
  const output = {
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => `${name.replace(/~.*/, '')}-part.js`,
    codeSplitting: {
      // What an import() loads stays apart.
      groups: [
        {
          name: 'shared',
          test: (id) => !OF_KINDS.test(id),
          tags: ['$initial'],
          minShareCount: 2,
          entriesAware: true,
          entriesAwareMergeThreshold: folder === CORE ? Infinity : SMALL_PART,
        },
      ],
    },
    comments: false,
    minifyInternalExports: false,
    // V8 parses it faster. Lines stay, which cost it little: Node prints the line that throws an uncaught error.
    charset: 'ascii',
  };
  const { output: files } = await bundle.write({
    ...output,
    dir: join(cwd, 'dist'),
    format: 'es',
    // Not packed: for profiles of the build.
    sourcemap: 'hidden',
    sourcemapFileNames: '.maps/[name].js.map',
  });
  writeLicences(join(cwd, 'dist'), files);
  // Node runs a program as ES modules.
  if (!isProgram) {
    // Only old loaders read it. Names of functions stay, for stack traces.
    const minify = { compress: false, mangle: false, codegen: { removeWhitespace: true } };
    const dir = join(cwd, 'dist', 'cjs');
    // Jest takes no import() in CommonJS.
    await bundle.write({ ...output, dir, format: 'cjs', exports: 'named', minify, dynamicImportInCjs: false });
    writeFileSync(join(dir, 'package.json'), '{ "type": "commonjs" }\n');
  }
  await bundle.close();
}

/**
 * Writes the licences of the packages whose code became a part of another.
 *
 * @param {string} dist
 * @param {readonly (import('rolldown').OutputChunk | import('rolldown').OutputAsset)[]} files
 */
function writeLicences(dist, files) {
  const modules = files.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const folders = modules.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]);
  const licences = [...new Set(folders)].flatMap((folder) => (folder === undefined ? [] : [licenceOf(folder)]));
  if (licences.length > 0) writeFileSync(join(dist, LICENCES), licences.join('\n'));
}

/** @param {string} folder of a package */
function licenceOf(folder) {
  const { name, version, license } = readJson(join(folder, 'package.json'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} must have a file with its licence to become a part of a package.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8')}`;
}

/**
 * What is done for a package. A file in its dist then has the hash of the sources from which it was done.
 *
 * @typedef {'built' | 'declared'} Step
 */

/**
 * @param {Step} step
 * @returns {Package[]} those for which it was not done since they changed
 */
function outdatedPackages(step) {
  return publishedPackages().filter((each) => {
    const stamp = stampOf(each, step);
    return !existsSync(stamp) || readFileSync(stamp, 'utf8') !== contentHash(each.folder);
  });
}

/**
 * @param {Step} step
 * @param {readonly Package[]} packages
 */
function remember(step, packages) {
  for (const each of packages) writeFileSync(stampOf(each, step), contentHash(each.folder));
}

/**
 * @param {Package} of
 * @param {Step} step
 */
function stampOf({ folder }, step) {
  return join(root, folder, 'dist', `.${step}`);
}

/**
 * @param {string} folder of a package
 * @returns {string} of all that its build depends on
 */
function contentHash(folder) {
  const shared = [fileURLToPath(import.meta.url), join(root, 'tsconfig.json'), join(root, 'pnpm-lock.yaml')];
  const cwd = join(root, folder);
  const hash = createHash('sha256');
  for (const file of [...shared, join(cwd, 'package.json'), ...sourcesIn(cwd).map((each) => join(cwd, 'src', each))]) {
    hash.update(`${file}\n`).update(readFileSync(file));
  }
  return hash.digest('hex');
}

/**
 * @param {string} cwd the folder of a package
 * @returns {string[]} the files of its src
 */
function sourcesIn(cwd) {
  return readdirSync(join(cwd, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
}

/** @param {string} file */
function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}

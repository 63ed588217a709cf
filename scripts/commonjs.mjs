import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './pnpm.mjs';

/** `import.meta.url` in the words of CommonJS. */
const MODULE_URL = `require('node:url').pathToFileURL(__filename).href`;

/**
 * Compiles every package into dist/cjs, for loaders that do not take ES modules: each source whose output is missing or
 * older, file by file. It does not check types, so it may run beside `tsc --build`.
 *
 * @param {{ since: number }} options - `since`: output from before this time, in ms since 1970, is written again.
 */
export async function compileCommonJs({ since }) {
  const oldestMs = Math.max(since, changedAtMs(fileURLToPath(import.meta.url)));
  const outdated = packageFolders()
    .flatMap(modulesOf)
    .filter(({ source, built }) => changedAtMs(`${built}.js`) <= Math.max(oldestMs, changedAtMs(source)));
  if (outdated.length === 0) return;
  const { default: ts } = await import('typescript');
  const options = optionsOf(ts);
  for (const module of outdated) emit(ts, options, module);
}

/** Completes dist/cjs with the declarations that `tsc --build` wrote: they do not depend on the form of a module. */
export function declareCommonJs() {
  for (const folder of packageFolders()) {
    writeFileSync(join(folder, 'dist', 'cjs', 'package.json'), '{ "type": "commonjs" }\n');
    modulesOf(folder).forEach(copyDeclarations);
    writeEntryDeclarations(folder);
  }
}

/** The packages that programs load. A package without a `main` is a program itself, which Node runs as ES modules. */
function packageFolders() {
  return readdirSync(join(root, 'packages'))
    .map((name) => join(root, 'packages', name))
    .filter((folder) => manifestOf(folder).main !== undefined);
}

/** @param {string} folder of a package */
function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/**
 * @typedef {object} Module
 * @property {string} source
 * @property {string} declarations what `tsc --build` writes
 * @property {string} built its file in dist/cjs, without an extension
 *
 * @param {string} folder of a package
 * @returns {Module[]}
 */
function modulesOf(folder) {
  return readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .map((name) => ({
      source: join(folder, 'src', `${name}.ts`),
      declarations: join(folder, 'dist', `${name}.d.ts`),
      built: join(folder, 'dist', 'cjs', name),
    }));
}

/** @param {typeof import('typescript')} ts */
function optionsOf(ts) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.base.json'), 'utf8'));
  const commonJs = { module: 'commonjs', esModuleInterop: true, verbatimModuleSyntax: false };
  return ts.convertCompilerOptionsFromJson({ ...compilerOptions, ...commonJs }, root).options;
}

/**
 * @param {typeof import('typescript')} ts
 * @param {import('typescript').CompilerOptions} compilerOptions
 * @param {Module} module
 */
function emit(ts, compilerOptions, { source, built }) {
  const text = readFileSync(source, 'utf8').replaceAll('import.meta.url', MODULE_URL);
  const { outputText, sourceMapText = '' } = ts.transpileModule(text, { compilerOptions, fileName: source });
  mkdirSync(dirname(built), { recursive: true });
  writeMap(`${built}.js.map`, sourceMapText, source);
  // Last: when a build was interrupted, this file is missing.
  writeFileSync(`${built}.js`, outputText);
}

/** @param {Module} module */
function copyDeclarations({ source, declarations, built }) {
  const file = `${built}.d.ts`;
  if (changedAtMs(file) >= changedAtMs(declarations)) return;
  writeMap(`${file}.map`, readFileSync(`${declarations}.map`, 'utf8'), source);
  copyFileSync(declarations, file);
}

/**
 * @param {string} file
 * @param {string} map
 * @param {string} source where it leads
 */
function writeMap(file, map, source) {
  const sources = [relative(dirname(file), source).replaceAll(sep, '/')];
  writeFileSync(file, JSON.stringify({ ...JSON.parse(map), sources }));
}

/**
 * Writes the declarations of the entry points for `import`: those of dist/cjs once more. At run time `import` and
 * `require` give the same classes, so they are the same types too.
 *
 * @param {string} folder of a package
 */
function writeEntryDeclarations(folder) {
  const { exports } = manifestOf(folder);
  for (const { import: entry } of Object.values(exports)) {
    if (entry === undefined) continue;
    const target = posix.relative(posix.dirname(entry.types), entry.default.replace('./dist/', './dist/cjs/'));
    writeFileSync(join(folder, entry.types), `export * from '${target.replace(/^(?!\.)/, './')}';\n`);
  }
}

/** @param {string} file */
function changedAtMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

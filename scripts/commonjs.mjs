import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './pnpm.mjs';

/** `import.meta.url` in the words of CommonJS. */
const MODULE_URL = `require('node:url').pathToFileURL(__filename).href`;

/**
 * Builds dist/cjs of every package, for loaders that do not take ES modules: JavaScript and declarations, file by file,
 * of each source whose build is missing or older. Types are not checked: `tsc --build` has done that.
 *
 * @param {{ since: number }} options - `since`: what was built before this time, in ms since 1970, is built again.
 */
export async function buildCommonJs({ since }) {
  const folders = readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name));
  const oldestMs = Math.max(since, changedAtMs(fileURLToPath(import.meta.url)));
  const outdated = folders
    .flatMap(modulesOf)
    .filter(({ source, cjs, name }) => changedAtMs(join(cjs, `${name}.js`)) <= Math.max(oldestMs, changedAtMs(source)));
  if (outdated.length > 0) {
    const { default: ts } = await import('typescript');
    const options = optionsOf(ts);
    for (const module of outdated) emit(ts, options, module);
  }
  for (const folder of folders) writeEntryDeclarations(folder);
}

/**
 * @typedef {{ name: string, source: string, declarations: string, cjs: string }} Module
 * @param {string} folder of a package
 * @returns {Module[]}
 */
function modulesOf(folder) {
  const [src, dist] = [join(folder, 'src'), join(folder, 'dist')];
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .map((name) => ({
      name,
      source: join(src, `${name}.ts`),
      declarations: join(dist, `${name}.d.ts`),
      cjs: join(dist, 'cjs'),
    }));
}

/** @param {import('typescript')} ts */
function optionsOf(ts) {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.base.json'), 'utf8'));
  const commonJs = { module: 'commonjs', esModuleInterop: true, verbatimModuleSyntax: false };
  return ts.convertCompilerOptionsFromJson({ ...compilerOptions, ...commonJs }, root).options;
}

/**
 * @param {import('typescript')} ts
 * @param {import('typescript').CompilerOptions} compilerOptions
 * @param {Module} module
 */
function emit(ts, compilerOptions, { source, declarations, cjs, name }) {
  const built = join(cjs, name);
  mkdirSync(dirname(built), { recursive: true });
  writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
  // Declarations do not depend on the form of a module: those of the ES modules are right here too.
  copyFileSync(declarations, `${built}.d.ts`);
  writeMap(`${built}.d.ts.map`, readFileSync(`${declarations}.map`, 'utf8'), source);
  const text = readFileSync(source, 'utf8').replaceAll('import.meta.url', MODULE_URL);
  const { outputText, sourceMapText = '' } = ts.transpileModule(text, { compilerOptions, fileName: source });
  writeMap(`${built}.js.map`, sourceMapText, source);
  // Last: when a build was interrupted, its file is missing.
  writeFileSync(`${built}.js`, outputText);
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
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
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

// What a tarball must be before anybody installs it: `npm run check -- packages` and `npm run release` check the same.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './pnpm.mjs';

const BUDGETS_FILE = 'scripts/package-kilobytes.json';
/** What npm runs in a project that installs the package. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];

/** @typedef {Readonly<Record<string, number>>} Budgets how many kB each package may have when it is packed */

/**
 * @param {readonly string[]} paths tarballs
 * @throws {Error} what is wrong with them
 */
export async function checkTarballs(paths) {
  const problems = tarballProblems(paths, budgets());
  if (problems.length > 0) throw new Error(problems.join('\n'));
  for (const path of paths) {
    const bytes = readFileSync(path);
    const found = [...(await findingsOfPublint(bytes)), ...(await findingsOfTypes(bytes))];
    if (found.length > 0) throw new Error(`${path}:\n${found.join('\n')}`);
  }
}

// Imported only here, and in this process: each loads as much as it takes to check a package.

/** @param {Buffer} bytes of a tarball */
async function findingsOfPublint(bytes) {
  const { publint } = await import('publint');
  const { formatMessage } = await import('publint/utils');
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true });
  return messages
    .filter(({ type }) => type !== 'suggestion')
    .map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

/** @param {Buffer} bytes of a tarball @returns what "Are the types wrong?" finds; nothing of a package without types */
async function findingsOfTypes(bytes) {
  const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core');
  const analysis = await checkPackage(createPackageFromTarballData(bytes));
  return analysis.types === false ? [] : analysis.problems.map((problem) => JSON.stringify(problem));
}

/**
 * @param {readonly string[]} paths tarballs
 * @param {Budgets} allowed
 * @returns {string[]} what is wrong with their licence, scripts and sizes
 */
export function tarballProblems(paths, allowed) {
  const tarballs = paths.map(read);
  const names = new Set(tarballs.map(({ manifest }) => manifest.name));
  const unknown = Object.keys(allowed).filter((name) => !names.has(name));
  return [
    ...tarballs.flatMap((each) => [...licenceProblems(each), ...scriptProblems(each), ...sizeProblems(each, allowed)]),
    ...unknown.map((name) => `${BUDGETS_FILE} has ${name}, which is not packed. Remove its line.`),
  ];
}

/** @returns {Budgets} */
export function budgets() {
  return JSON.parse(readFileSync(join(root, BUDGETS_FILE), 'utf8'));
}

/** @param {string} path of a tarball @returns its size, rounded up */
export function kilobytes(path) {
  return Math.ceil(statSync(path).size / 1000);
}

/**
 * @param {string} path of a tarball
 * @returns its package.json
 */
export function packedManifest(path) {
  return JSON.parse(packedFile(path, 'package.json'));
}

/**
 * The parts of a tarball that several checks use. To read one starts a process.
 *
 * @typedef {{ path: string, manifest: any, files: readonly string[] }} Tarball
 */

/** @param {string} path @returns {Tarball} */
function read(path) {
  return { path, manifest: packedManifest(path), files: packedFiles(path) };
}

/** @param {Tarball} tarball */
function licenceProblems({ path, manifest: { name, license }, files }) {
  const ours = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).license;
  const hasText =
    files.includes('LICENSE') && packedFile(path, 'LICENSE') === readFileSync(join(root, 'LICENSE'), 'utf8');
  return [
    ...(license === ours ? [] : [`\`license\` of ${name} must be ${ours}, but was ${license}. Write it.`]),
    ...(hasText
      ? []
      : [`${name} must have the text of LICENSE, but has none or another. Do not exclude it from files.`]),
  ];
}

/** @param {Tarball} tarball */
function scriptProblems({ manifest: { name, scripts = {} }, files }) {
  const ran = INSTALL_SCRIPTS.filter((script) => script in scripts);
  // npm compiles a package with this file, without a script that says so.
  if (files.includes('binding.gyp')) ran.push('binding.gyp');
  return ran.map((script) => `${name} must run nothing when it is installed, but has ${script}. Remove it.`);
}

/** @param {Tarball} tarball @param {Budgets} allowed */
function sizeProblems({ path, manifest: { name } }, allowed) {
  const size = kilobytes(path);
  const most = allowed[name];
  if (most === undefined) return [`${name} has no budget. Write "${name}": ${size} into ${BUDGETS_FILE}.`];
  if (size <= most) return [];
  return [
    `${name} must have at most ${most} kB when it is packed, but has ${size} kB. Make it smaller; or raise its number in ` +
      `${BUDGETS_FILE}, and say why in the commit.`,
  ];
}

/** @param {string} path @returns {string[]} */
function packedFiles(path) {
  const lines = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' }).trimEnd().split('\n');
  return lines.map((line) => line.replace('package/', ''));
}

/** @param {string} path @param {string} file */
function packedFile(path, file) {
  return execFileSync('tar', ['-xzOf', path, `package/${file}`], { encoding: 'utf8' });
}

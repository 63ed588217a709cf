import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { packedManifest } from './tarball-checks.mjs';

const shell = process.platform === 'win32';
/** Peers are chosen by whoever installs the packages: they belong to the bill of materials of that project. */
const OPTIONS = ['--package-lock-only', '--legacy-peer-deps', '--loglevel=error'];

/**
 * Writes the bill of materials of a release as CycloneDX: its packages with the hashes of their tarballs, and all that they
 * depend on. npm asks the registry for the versions of dependencies, and downloads none.
 *
 * @param {readonly string[]} paths the tarballs
 * @param {{ readonly version: string, readonly folder: string }} release its version, and the folder to write to, which is emptied
 * @returns {{ file: string, components: number }} the path of the file, and how many packages it names
 */
export function writeSbom(paths, { version, folder }) {
  const { components = [], ...rest } = cyclonedxOf(paths, version);
  const own = components.map(({ externalReferences, ...component }) => ({
    ...component,
    // Those of our packages are paths of the machine that packed them.
    externalReferences: externalReferences.filter(({ url }) => !url.startsWith('file:')),
  }));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `sluice-${version}.cdx.json`);
  writeFileSync(file, `${JSON.stringify({ ...rest, components: own }, undefined, 2)}\n`);
  return { file, components: own.length };
}

/**
 * What npm says of a project that has all packages.
 *
 * @param {readonly string[]} paths
 * @param {string} version
 * @returns {{ components?: { externalReferences: { url: string }[] }[] }}
 */
function cyclonedxOf(paths, version) {
  const temporary = mkdtempSync(join(tmpdir(), 'sluice-sbom-'));
  try {
    // npm names the project by its folder.
    const cwd = join(temporary, 'sluice');
    mkdirSync(cwd);
    const dependencies = Object.fromEntries(paths.map((path) => [packedManifest(path).name, `file:${resolve(path)}`]));
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'sluice', version, license: 'MIT', dependencies }));
    execFileSync('npm', ['install', '--no-audit', '--no-fund', ...OPTIONS], { cwd, shell });
    const words = ['sbom', '--sbom-format=cyclonedx', '--sbom-type=library', ...OPTIONS];
    return JSON.parse(execFileSync('npm', words, { cwd, shell, encoding: 'utf8', maxBuffer: 1e8 }));
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

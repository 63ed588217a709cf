// `npm run release -- --dry-run` does all of a release but publishing, and prints what a person must do first.
// `npm run release` publishes, or says why it does not. See CONTRIBUTING.md.
import { execFileSync } from 'node:child_process';
import { basename, join, relative } from 'node:path';
import { packedOnce } from './pack.mjs';
import { root } from './pnpm.mjs';
import { publish } from './publish.mjs';
import { isFirstRelease, mayPublish, readClone, unmetDemands } from './release-demands.mjs';
import { releaseNotes } from './release-notes.mjs';
import { writeRepository } from './repository.mjs';
import { writeSbom } from './sbom.mjs';
import { budgets, checkTarballs, kilobytes, packedManifest } from './tarball-checks.mjs';

const [form = '', ...rest] = process.argv.slice(2);
try {
  if (form === '' && rest.length === 0) await release();
  else if (form === '--dry-run' && rest.length === 0) await dryRun();
  else if (form === '--repository' && rest.length === 1) writeRepository(root, rest[0] ?? '');
  else throw new Error('Usage: npm run release, npm run release -- --dry-run, npm run release -- --repository URL');
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function dryRun() {
  const clone = readClone(root);
  console.log(`${await checkedPackages(clone)}\n`);
  console.log(`What the CHANGELOG of each package will have:\n\n${releaseNotes(clone).join('\n\n')}\n`);
  console.log(whatIsLeft(clone));
}

async function release() {
  const clone = readClone(root);
  const unmet = unmetDemands(clone, { mayPublish: () => mayPublish(clone) });
  if (unmet.length > 0) throw new Error(`Nothing was published.\n${numbered(unmet)}`);
  console.log(await checkedPackages(clone));
  publish(await packedOnce());
  const tag = `v${clone.version}`;
  execFileSync('git', ['tag', '--annotate', '--message', tag, tag], { cwd: root });
  console.log(`Published. \`git push origin ${tag}\` tells others which commit this is.`);
}

/**
 * Packs, checks, and writes the bill of materials.
 *
 * @param {import('./release-demands.mjs').Clone} clone
 * @returns {Promise<string>} what was packed
 */
async function checkedPackages({ version }) {
  const paths = await packedOnce();
  await checkTarballs(paths);
  const sbom = writeSbom(paths, { version, folder: join(root, 'release') });
  const allowed = budgets();
  const sizes = paths.map((path) => {
    const { name } = packedManifest(path);
    return `  ${basename(path).padEnd(28)} ${String(kilobytes(path)).padStart(4)} kB of at most ${allowed[name]}`;
  });
  return [
    'Packed:',
    ...sizes,
    'Each passes publint and "Are the types wrong?", has its licence, and runs nothing when it is installed.',
    `Their bill of materials (CycloneDX) names ${sbom.components} packages: ${relative(root, sbom.file)}`,
  ].join('\n');
}

/** @param {import('./release-demands.mjs').Clone} clone */
function whatIsLeft(clone) {
  const names = isFirstRelease(clone)
    ? [
        'The scope @sluice on npm must be yours: an organization with the name sluice, of which you are an owner. Create it, or, ' +
          'if it is taken, rename the packages.',
      ]
    : [];
  const unmet = [...names, ...unmetDemands(clone, { mayPublish: () => mayPublish(clone) })];
  if (unmet.length === 0) return 'Nothing is left to do: `npm run release` publishes.';
  return `Before \`npm run release\`, a person must see to this (CONTRIBUTING.md has the order):\n${numbered(unmet)}`;
}

/** @param {readonly string[]} texts */
function numbered(texts) {
  return texts.map((text, index) => `${index + 1}. ${text}`).join('\n');
}

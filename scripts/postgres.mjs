// `node scripts/postgres.mjs` makes sure of a PostgreSQL server and of PgBouncer for the tests: it takes those that are there,
// or installs them where apt-get works, or says what to do and fails. The tests are never skipped for want of them.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall } from './apt.mjs';
import { isProgram } from './is-program.mjs';

const OLDEST = 14;
/** Debian has a folder for each version, and none of them is on the PATH. */
const DEBIAN = '/usr/lib/postgresql';

/** Debian has it there, which is not on the PATH of every user. */
const BOUNCERS = ['pgbouncer', '/usr/sbin/pgbouncer'];

const INSTRUCTION = `The tests need a PostgreSQL server ${OLDEST} or later, and PgBouncer. They start their own in a temporary folder and use no other.
  Debian, Ubuntu   sudo apt-get install postgresql pgbouncer
  Fedora           sudo dnf install postgresql-server pgbouncer
  Alpine           apk add postgresql pgbouncer
  macOS            brew install postgresql pgbouncer
  elsewhere        https://www.postgresql.org/download/
It does not have to run: its programs only have to be on the PATH, or their folder in SLUICE_POSTGRES
(e.g. SLUICE_POSTGRES=/opt/postgresql/bin). Then try again.`;

/**
 * The folder of the programs that the tests run.
 *
 * @returns {string} a path, or '' for those on the PATH
 * @throws {Error} what to install, when there is none
 */
export function postgresFolder() {
  const { SLUICE_POSTGRES: given } = process.env;
  if (given !== undefined) {
    const problem = problemOf(given);
    if (problem === undefined) return given;
    throw new Error(`SLUICE_POSTGRES: ${problem}\n${INSTRUCTION}`);
  }
  const found = ['', ...debianFolders()].find((folder) => problemOf(folder) === undefined);
  if (found === undefined) throw new Error(`${problemOf('')}\n${INSTRUCTION}`);
  return found;
}

/**
 * The program of PgBouncer.
 *
 * @returns {string} its path, or its name if it is on the PATH
 * @throws {Error} what to install, when there is none
 */
export function pgBouncerProgram() {
  const found = BOUNCERS.find((program) => spawnSync(program, ['--version']).status === 0);
  if (found === undefined) throw new Error(`pgbouncer can't be run.\n${INSTRUCTION}`);
  return found;
}

/**
 * The user of a server that the tests or the benchmarks start: PostgreSQL refuses to run as root.
 *
 * @returns {{ readonly uid?: number, readonly gid?: number }} options of a child process; empty for the current user
 */
export function postgresUser() {
  if (process.getuid?.() !== 0) return {};
  const idOf = (/** @type {string} */ flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function debianFolders() {
  if (!existsSync(DEBIAN)) return [];
  return readdirSync(DEBIAN)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN, version, 'bin'));
}

/**
 * @param {string} folder
 * @returns {string | undefined} why its programs can't be used
 */
function problemOf(folder) {
  for (const name of ['postgres', 'initdb']) {
    const program = join(folder, name);
    const { status, stdout, error } = spawnSync(program, ['--version'], { encoding: 'utf8' });
    if (error) return `${program} can't be run (${error.message}).`;
    const [, version] = /\(PostgreSQL\) (\d+)/.exec(stdout) ?? [];
    if (status !== 0 || version === undefined) return `${program} has no version of PostgreSQL.`;
    if (Number(version) < OLDEST) return `${program} is too old: ${stdout.trim()}.`;
  }
  return undefined;
}

function install() {
  /** @type {string[]} */
  const names = [];
  if (process.env.SLUICE_POSTGRES === undefined && lacks(postgresFolder)) names.push('postgresql');
  if (lacks(pgBouncerProgram)) names.push('pgbouncer');
  if (names.length > 0 && aptInstall(...names)) stopServices(names);
}

/** @param {() => unknown} find */
function lacks(find) {
  try {
    find();
    return false;
  } catch {
    return true;
  }
}

/**
 * The packages start servers for the whole machine, which nobody asked for.
 *
 * @param {string[]} names
 */
function stopServices(names) {
  if (existsSync('/run/systemd/system')) spawnSync('systemctl', ['disable', '--now', ...names]);
}

if (isProgram(import.meta.url)) {
  install();
  try {
    postgresFolder();
    pgBouncerProgram();
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
}

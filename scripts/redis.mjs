// `node scripts/redis.mjs` makes sure of a redis-server for the tests: it takes the one that is there, or installs
// one where apt-get works, or says what to do and fails. The tests are never skipped for want of it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { aptInstall } from './apt.mjs';
import { isProgram } from './is-program.mjs';

const OLDEST = '6.2';

const INSTRUCTION = `The tests need a redis-server ${OLDEST} or later. They start their own on free ports and use no other.
  Debian, Ubuntu   sudo apt-get install redis-server
  Fedora           sudo dnf install redis         (or valkey)
  Alpine           apk add redis
  macOS            brew install redis
  elsewhere        https://redis.io/docs/latest/operate/oss_and_stack/install/
It does not have to run: it only has to be on the PATH, or its path in SLUICE_REDIS_SERVER
(e.g. SLUICE_REDIS_SERVER=/opt/redis/bin/redis-server, or a valkey-server). Then try again.`;

/**
 * The program that the tests run.
 *
 * @returns {string} a path, or a name on the PATH
 * @throws {Error} what to install, when there is none
 */
export function redisServerProgram() {
  const { SLUICE_REDIS_SERVER: given } = process.env;
  const program = given ?? 'redis-server';
  const problem = problemOf(program);
  if (problem === undefined) return program;
  throw new Error(`${given === undefined ? '' : 'SLUICE_REDIS_SERVER: '}${problem}\n${INSTRUCTION}`);
}

/**
 * @param {string} program
 * @returns {string | undefined} why it can't be used
 */
function problemOf(program) {
  const { status, stdout, error } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (error) return `${program} can't be run (${error.message}).`;
  const [, version] = /\bv=(\d+\.\d+)\./.exec(stdout) ?? [];
  if (status !== 0 || version === undefined) return `${program} is no redis-server: it has no version.`;
  return Number(version) < Number(OLDEST) ? `${program} is too old: ${stdout.trim()}.` : undefined;
}

function install() {
  if (process.env.SLUICE_REDIS_SERVER !== undefined || problemOf('redis-server') === undefined) return;
  if (aptInstall('redis-server')) stopService();
}

// The package starts a server for the whole machine, which nobody asked for.
function stopService() {
  if (existsSync('/run/systemd/system')) spawnSync('systemctl', ['disable', '--now', 'redis-server']);
}

if (isProgram(import.meta.url)) {
  install();
  try {
    redisServerProgram();
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
}

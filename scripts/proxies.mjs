// `node scripts/proxies.mjs` makes sure of the proxies for the tests, and of what checks the unit file of the service for them:
// it takes those that are there, or installs them where apt-get works, or says what to do and fails.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { aptInstall } from './apt.mjs';

/** What each program prints its version for. */
const PROGRAMS = {
  nginx: ['-v'],
  caddy: ['version'],
  haproxy: ['-v'],
  apache2: ['-v'],
  python3: ['--version'],
  'systemd-analyze': ['--version'],
};
/** The packages that have another name than their program. Without its configuration, Apache starts no server. */
const PACKAGES = new Map([
  ['apache2', 'apache2-bin'],
  ['systemd-analyze', 'systemd'],
]);

const INSTRUCTION = `The tests of proxies run nginx, Caddy 2.6 or later, HAProxy 2.6 or later with Lua, Apache 2.4, Python 3, and
systemd-analyze of systemd 250 or later. They start their own on free ports, and no systemd.
  Debian, Ubuntu   sudo apt-get install nginx-light caddy haproxy apache2-bin python3 systemd
  elsewhere        install them so that they are on the PATH`;

const names = Object.keys(PROGRAMS);
const missing = () =>
  names.filter((name) => spawnSync(name, PROGRAMS[/** @type {keyof typeof PROGRAMS} */ (name)]).status !== 0);

install(missing());
const left = missing();
if (left.length > 0) {
  console.error(`Not found: ${left.join(', ')}.\n${INSTRUCTION}`);
  process.exitCode = 1;
}

/** @param {readonly string[]} programs */
function install(programs) {
  if (programs.length === 0 || !aptInstall(...programs.map((name) => PACKAGES.get(name) ?? name))) return;
  // The packages start servers for the whole machine, which nobody asked for.
  if (existsSync('/run/systemd/system')) spawnSync('systemctl', ['disable', '--now', ...programs]);
}

// Programs that the tests need, installed by apt-get where that works: as root on Debian and its descendants.
import { spawnSync } from 'node:child_process';

/**
 * Installs a package, if this process may. Whether that worked shows when the program is used.
 *
 * @param {string} name
 * @returns {boolean} whether it was tried
 */
export function aptInstall(name) {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).error) return false;
  console.log(`setup: installing ${name} for the tests`);
  apt(['update']);
  apt(['install', '-y', '--no-install-recommends', name]);
  return true;
}

/** @param {string[]} args */
function apt(args) {
  const { status } = spawnSync('apt-get', ['-q', ...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    // Scripts of the packages ask nothing; RUNLEVEL=1 keeps a SysV init from starting a service.
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' },
  });
  if (status !== 0) console.error(`setup: apt-get ${args.join(' ')} failed; its reason is above.`);
}

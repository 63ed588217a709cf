// `node scripts/chromium.mjs` makes sure of a Chromium for the tests of the site: it takes the one that is there, or
// installs one where apt-get works, or says what to do and fails. The tests are never skipped for want of it.
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptInstall } from './apt.mjs';
import { isProgram } from './is-program.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

const INSTRUCTION = `The tests of the site need Chromium or Chrome.
  Debian           sudo apt-get install chromium
  Fedora           sudo dnf install chromium
  Alpine           apk add chromium
  macOS            brew install --cask chromium
It has to be on the PATH, or its path in SLUICE_CHROMIUM. Then try again.`;

/**
 * The program that the tests run.
 *
 * @returns {string} its path
 * @throws {Error} what to install, when there is none
 */
export function chromiumProgram() {
  const { SLUICE_CHROMIUM: given } = process.env;
  const program = given ?? NAMES.map(onPath).find((path) => path !== undefined);
  if (program === undefined) throw new Error(`There is no Chromium on the PATH.\n${INSTRUCTION}`);
  const { status, error } = spawnSync(program, ['--version', '--no-sandbox'], { encoding: 'utf8' });
  if (status === 0) return program;
  throw new Error(`${program} can't be run (${error?.message ?? `it ended with ${status}`}).\n${INSTRUCTION}`);
}

/** @param {string} name @returns {string | undefined} */
function onPath(name) {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

if (isProgram(import.meta.url)) {
  if (process.env['SLUICE_CHROMIUM'] === undefined && NAMES.every((name) => onPath(name) === undefined)) {
    aptInstall('chromium');
  }
  try {
    chromiumProgram();
  } catch (error) {
    console.error(/** @type {Error} */ (error).message);
    process.exitCode = 1;
  }
}

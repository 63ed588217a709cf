import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Core, adapters and stores; and tools. */
const PARENTS = ['packages', 'tools'];

/**
 * The folders of the packages that are published, from the root of the clone, such as `packages/core`.
 *
 * @param {string} clone its folder
 * @returns {string[]}
 */
export function packageFolders(clone) {
  const folders = PARENTS.flatMap((parent) => readdirSync(join(clone, parent)).map((name) => `${parent}/${name}`));
  // Not a package: what one left in its former folder, such as node_modules.
  return folders.filter((folder) => existsSync(join(clone, folder, 'package.json')));
}

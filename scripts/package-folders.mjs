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
  // What a package leaves behind where it was, such as node_modules, is no package.
  return folders.filter((folder) => existsSync(join(clone, folder, 'package.json')));
}

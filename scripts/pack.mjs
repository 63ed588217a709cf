import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pnpm } from './pnpm.mjs';

/**
 * Packs every published package as a release would, from what `tsc --build` left in dist: `workspace:` ranges
 * become versions.
 *
 * @param {string} folder where the tarballs go; must be empty
 * @returns {string[]} their paths
 */
export function packAll(folder) {
  const { status, stdout, stderr } = pnpm(
    ['--recursive', '--filter', './packages/*', 'pack', '--pack-destination', folder],
    'pipe',
  );
  if (status !== 0) throw new Error(`pnpm pack failed:\n${stdout}${stderr}`);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => join(folder, file));
}

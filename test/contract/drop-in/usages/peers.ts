// The limiters in the versions of this clone, or of another folder: see scripts/drop-in-versions.mjs.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.env['SLUICE_PEERS'];

/** Loads a library. Older versions have the options of this clone's, as far as a usage has them. */
export async function peer(name: string): Promise<unknown> {
  if (folder === undefined) return import(name);
  const loader = (await import(pathToFileURL(join(folder, 'load.mjs')).href)) as { load: (name: string) => unknown };
  return loader.load(name);
}

/** The versions of express-rate-limit, each by the name that it is installed by. */
export const EXPRESS_RATE_LIMITS: readonly string[] =
  folder === undefined ? ['express-rate-limit6', 'express-rate-limit7', 'express-rate-limit'] : ['express-rate-limit'];

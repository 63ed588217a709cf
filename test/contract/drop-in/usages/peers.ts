// The limiters in the versions of this clone, or of another folder: see scripts/drop-in-versions.mjs.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const folder = process.env['SLUICE_PEERS'];
const load = createRequire(folder === undefined ? import.meta.url : join(folder, 'peers.cjs'));

/** Loads a library. Older versions have the options of this clone's, as far as a usage has them. */
export function peer(name: string): unknown {
  return load(name);
}

/** The versions of express-rate-limit, each by the name that it is installed by. */
export const EXPRESS_RATE_LIMITS: readonly string[] =
  folder === undefined ? ['express-rate-limit6', 'express-rate-limit7', 'express-rate-limit'] : ['express-rate-limit'];

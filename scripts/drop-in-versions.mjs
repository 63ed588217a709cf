// Compares the documented usages of other limiters, with their own stores and with ours, in each of these versions of them, in
// memory and on Redis.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testWithVersions } from './other-versions.mjs';

/**
 * The lowest that tools/drop-in/README.md names, the last of each line that is installed, and the newest. A
 * version of rate-limit-redis is beside one of express-rate-limit that it works with.
 */
const VERSIONS = {
  'express-rate-limit': ['6.0.0', '6.11.2', '7.0.0', '7.5.1', '8.0.0', '8.7.5'],
  'rate-limit-redis': ['3.0.0', '3.1.0', '4.0.0', '4.2.0', '4.3.1', '6.0.1'],
  '@modelcontextprotocol/sdk': ['1.8.0', '1.12.3', '1.20.2', '1.25.3', '1.29.0', '1.32.2'],
  '@fastify/rate-limit': ['11.0.0', '11.1.0', '11.2.0'],
  'hono-rate-limiter': ['0.5.0', '0.5.3', '0.5.4'],
  'better-auth': ['1.7.0', '1.7.13', '1.7.25'],
};

for (const i of VERSIONS['express-rate-limit'].keys())
  testWithVersions({
    tests: 'test/contract/drop-in/usages',
    projects: ['contract', 'redis'],
    node: '22',
    packages: Object.entries(VERSIONS).map(([name, all]) => `${name}@${all[i] ?? all.at(-1)}`),
    env(installed) {
      // A module there imports what is installed there.
      writeFileSync(join(installed, 'load.mjs'), 'export const load = (name) => import(name);\n');
      return { SLUICE_PEERS: installed };
    },
  });

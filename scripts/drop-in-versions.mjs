// Compares the documented usages of other limiters, with their own stores and with ours, in each of these versions of them.
import { testWithVersions } from './other-versions.mjs';

/** The lowest that packages/drop-in/README.md names, those that are installed most, and the newest. */
const VERSIONS = {
  'express-rate-limit': ['6.1.0', '6.11.2', '7.0.0', '7.5.1', '8.0.0', '8.7.5'],
  '@fastify/rate-limit': ['11.0.0', '11.1.0', '11.2.0'],
  'hono-rate-limiter': ['0.5.0', '0.5.3', '0.5.4'],
};

for (const [i, express] of VERSIONS['express-rate-limit'].entries())
  testWithVersions({
    tests: 'test/contract/drop-in/usages.test.ts',
    project: 'contract',
    node: '22',
    packages: Object.entries(VERSIONS).map(
      ([name, all]) => `${name}@${name === 'express-rate-limit' ? express : (all[i] ?? all.at(-1))}`,
    ),
    env: (installed) => ({ SLUICE_PEERS: installed }),
  });

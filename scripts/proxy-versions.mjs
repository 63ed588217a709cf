// Sends through nginx, Caddy and HAProxy, to the service and to servers on each line of Node that they support: the longest paths,
// paths under many rules, and upgrades that are reset.
import { testWithVersions } from './other-versions.mjs';

const TESTS = ['long-paths', 'many-rules', 'upgrades'];

for (const node of ['20', '22', '24'])
  testWithVersions({ tests: TESTS.map((name) => `test/proxies/${name}.test.ts`), projects: ['proxies'], node });

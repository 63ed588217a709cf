// Tests tools/ai with each version of the AI SDK that it supports, on the versions of Node that run it: the random calls
// are 100,000 then, or as many as `--calls 1000` says.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { testWithVersions } from './other-versions.mjs';

const VERSIONS = [
  { ai: '6', node: '20' },
  { ai: '7', node: '22' },
  { ai: '7', node: '24' },
];

const { values } = parseArgs({ options: { calls: { type: 'string', default: '100000' } } });

for (const { ai, node } of VERSIONS)
  testWithVersions({
    tests: 'tools/ai/test',
    node,
    packages: [`ai@${ai}`],
    env: (installed) => ({ SLUICE_AI: join(installed, 'ai'), SLUICE_AI_CALLS: values.calls }),
  });

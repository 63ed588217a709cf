import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startVitest } from 'vitest/node';
import { KINDS } from '../scene.ts';
import { CORE, type Finder, type RuleMutant } from './rule-mutant.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SCENES_TEST = 'test/property/leases.test.ts';
const CONDITIONS = ['@sluice/source', 'node', 'module'];

/** What the tests made of a source. */
export interface Verdict {
  readonly tests: number;
  readonly failed: number;
  /** Of tests with scenes: how many scenes were beyond the bound, and the worst share of the bound. */
  readonly violations: number | undefined;
  readonly worstShare: number | undefined;
}

/** A source in which one text is replaced. */
interface Change {
  readonly path: string;
  readonly source: string;
}

/** Replaces the text of a mutant, which its file must contain once. */
export async function changeOf({ name, in: file, replace, by }: RuleMutant): Promise<Change> {
  const path = join(ROOT, file.includes('/') ? file : `${CORE}/${file}`);
  const source = await readFile(path, 'utf8');
  const parts = source.split(replace);
  if (parts.length !== 2) throw new Error(`${name}: ${path} has its text ${parts.length - 1} times instead of once`);
  return { path, source: parts.join(by) };
}

/** Runs what finds a mutant, on the sources as they are or with a change that is made in memory. */
export async function testsOf(finder: Finder, change?: Change): Promise<Verdict> {
  const file = 'kind' in finder ? SCENES_TEST : finder.file;
  const pattern = 'kind' in finder ? `bound: ${finder.kind}$` : finder.named;
  if ('kind' in finder) process.env.SLUICE_LEASE_SCENES = String(KINDS.length * finder.scenes);
  let log = '';
  const vitest = await startVitest(
    'test',
    [file],
    {
      config: false,
      root: ROOT,
      watch: false,
      include: [file],
      testNamePattern: pattern,
      setupFiles: ['test/property/setup.ts'],
      testTimeout: 600_000,
      reporters: [{ onUserConsoleLog: ({ content }) => void (log += content) }],
    },
    {
      resolve: { conditions: CONDITIONS },
      ssr: { resolve: { conditions: CONDITIONS } },
      plugins: [{ name: 'mutant', enforce: 'pre', load: (id) => (id === change?.path ? change.source : undefined) }],
    },
  );
  const modules = vitest.state.getTestModules();
  const errors = modules.flatMap((module) => module.errors());
  const results = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
  await vitest.close();
  if (errors.length > 0) throw new Error(`${file} can't be loaded: ${errors[0]!.message}`);
  const [, violations, worstShare] = /(\d+) violations, at worst ([\d.]+)/.exec(log) ?? [];
  return {
    tests: results.filter((state) => state !== 'skipped').length,
    failed: results.filter((state) => state === 'failed').length,
    violations: violations === undefined ? undefined : Number(violations),
    worstShare: worstShare === undefined ? undefined : Number(worstShare),
  };
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONDITIONS = ['@sluice/source', 'node', 'module'];

/** A source that is broken on purpose, by the change of one text. */
export interface Mutant {
  readonly name: string;
  /** The path of the file from the root. */
  readonly in: string;
  /** A text that occurs once in the file. */
  readonly replace: string;
  readonly by: string;
}

/** A source in which one text is replaced. */
export interface Change {
  readonly path: string;
  readonly source: string;
}

/** Replaces the text of a mutant, which its file must contain once. */
export async function changeOf({ name, in: file, replace, by }: Mutant): Promise<Change> {
  const path = join(ROOT, file);
  const source = await readFile(path, 'utf8');
  const parts = source.split(replace);
  if (parts.length !== 2) throw new Error(`${name}: ${path} has its text ${parts.length - 1} times instead of once`);
  return { path, source: parts.join(by) };
}

/** What is run of a test file. */
export interface MutatedRun {
  readonly file: string;
  /** Only the tests whose names match. Default: all. */
  readonly named?: string | undefined;
  readonly setupFiles?: string[];
  /** Ends with the first test that fails. */
  readonly bail?: boolean;
  /** After how long a test has failed, in milliseconds. Default: ten minutes, for tests that simulate many steps. */
  readonly testTimeoutMs?: number;
}

/** How many tests were run, and what they printed. */
export interface MutatedResult {
  readonly tests: number;
  readonly failed: number;
  /** The name of the first test that failed, with why it did. */
  readonly firstFailure: string | undefined;
  readonly log: string;
}

/** Runs a test file on the sources as they are, or with a change that is made in memory. */
export async function mutatedRun(run: MutatedRun, change?: Change): Promise<MutatedResult> {
  const { file, named, setupFiles = [], bail = false, testTimeoutMs = 600_000 } = run;
  const { startVitest } = await import('vitest/node');
  let log = '';
  const vitest = await startVitest(
    'test',
    [file],
    {
      config: false,
      root: ROOT,
      watch: false,
      include: [file],
      ...(named !== undefined && { testNamePattern: named }),
      setupFiles,
      bail: bail ? 1 : 0,
      testTimeout: testTimeoutMs,
      expect: { poll: { interval: 5 } },
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
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  // A test stays pending if its process was ended.
  const failed = tests.filter((test) => ['failed', 'pending'].includes(test.result().state));
  const [first] = failed;
  await vitest.close();
  if (errors.length > 0) throw new Error(`${file} can't be loaded: ${errors[0]!.message}`);
  return {
    tests: tests.filter((test) => test.result().state !== 'skipped').length,
    failed: failed.length,
    firstFailure: first && `${first.fullName}: ${first.result().errors?.[0]?.message ?? 'it does not end'}`,
    log,
  };
}

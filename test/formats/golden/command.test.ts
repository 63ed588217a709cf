import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { samplePath, sampleValue } from './sample.ts';

const PROGRAM = fileURLToPath(new URL('../../../tools/cli/dist/main.js', import.meta.url));

const samples = sampleValue('command.json') as readonly {
  readonly words: readonly string[];
  readonly printed: unknown;
}[];

test.each(samples)(
  'sluice $words prints the properties of the version before, with values of the same types',
  ({ words, printed }) => {
    expect(shapeOf(printedBy(words), printed)).toEqual(shapeOf(printed, printed));
  },
);

test('files of the version before have no problem', () => {
  const words = ['check', 'limits.yaml', 'overrides.yaml', '--tables', 'tables.yaml', '--json'];
  expect(printedBy(words)).toEqual({ problems: [] });
});

function printedBy(words: readonly string[]): unknown {
  const options = { cwd: samplePath('files'), encoding: 'utf8', stdio: 'pipe' } as const;
  try {
    return JSON.parse(execFileSync(process.execPath, [PROGRAM, ...words], options));
  } catch (error) {
    // With findings, it exits with 1.
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    if (stdout === undefined || stdout === '') throw new Error(stderr, { cause: error });
    return JSON.parse(stdout);
  }
}

/** The types of the values that a sample has, by their paths. What a value has beside them may be new. */
function shapeOf(value: unknown, sample: unknown, path = ''): Readonly<Record<string, string>> {
  const type = Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
  if (typeof sample !== 'object' || sample === null) return { [path]: type };
  // The first entry of a list stands for all.
  const names = Array.isArray(sample) ? Object.keys(sample).slice(0, 1) : Object.keys(sample);
  const under = (of: unknown, name: string): unknown => (of as Readonly<Record<string, unknown>> | undefined)?.[name];
  const shapes = names.map((name) => shapeOf(under(value, name), under(sample, name), `${path}.${name}`));
  return Object.assign({ [path]: type }, ...shapes) as Readonly<Record<string, string>>;
}

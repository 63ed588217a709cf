import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const bench = fileURLToPath(new URL('../../bench/', import.meta.url));
const parts = readdirSync(join(bench, 'parts')).map((file) => basename(file, '.mjs'));

interface Result {
  readonly contender: string;
  readonly case: string;
  readonly rounds: readonly Readonly<Record<string, readonly number[]>>[];
}

function run(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: bench, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

/** All cases of all parts take a minute of processor time. */
const cases = process.env['SLUICE_ALL_CASES'] === 'yes' ? [] : ['--first-case'];

test('every part of the measurements runs, and measures something in each case that is tried', () => {
  const { status, output } = run('run.mjs', '--quick', '--contender', 'Sluice', ...cases);
  if (status !== 0) throw new Error(output);
  for (const part of parts) {
    const { results } = JSON.parse(readFileSync(join(bench, `results/quick/${part}.json`), 'utf8')) as {
      results: Result[];
    };
    expect(results).not.toEqual([]);
    for (const { contender, rounds } of results) {
      expect(contender).toBe('Sluice');
      expect(rounds).toHaveLength(1);
      const figures = Object.values(rounds[0]!).flat();
      expect(figures.length).toBeGreaterThan(0);
      expect(figures.filter((figure) => !Number.isFinite(figure))).toEqual([]);
    }
  }
});

test('a part is measured beside the packages of another clone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'beside-'));
  const other = join(folder, 'other');
  mkdirSync(join(other, 'bench'), { recursive: true });
  const args = ['run.mjs', 'memory', '--quick', '--first-case', '--contender', 'Sluice', '--beside', other];
  try {
    // It has no packages yet.
    expect(run(...args)).toMatchObject({ status: 1 });
    symlinkSync(join(bench, 'node_modules'), join(other, 'bench/node_modules'));
    const { status, output } = run(...args);
    if (status !== 0) throw new Error(output);
    expect(output).toContain('Sluice of other, hot id, awaited: nanoseconds');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a part that does not exist is named, with those that do', () => {
  const { status, output } = run('run.mjs', 'memry');
  expect(status).toBe(1);
  expect(output).toContain('There is no part named memry. There are: ');
  for (const part of parts) expect(output).toContain(part);
});

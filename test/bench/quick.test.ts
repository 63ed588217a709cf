import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { comparedCounts } from '../../bench/harness/counts.mjs';
import type { Part } from '../../bench/harness/part.ts';
import { readResults, resultFile } from '../../bench/harness/result-file.mjs';

const bench = fileURLToPath(new URL('../../bench/', import.meta.url));
const parts = readdirSync(join(bench, 'parts')).map((file) => basename(file, '.mjs'));

async function partNamed(name: string): Promise<Part> {
  const { part } = (await import(join(bench, `parts/${name}.mjs`))) as { part: Part };
  return part;
}

function run(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: bench, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

test.each(parts)('%s counts no more calls, bytes and allocations than the committed counts', (part) => {
  const { status, output } = run('run.mjs', part, '--quick');
  if (status !== 0) throw new Error(output);
  expect(output).toContain('Worse: 0');
});

test('a count that is higher than its part allows is worse, and so is one that is not committed', async () => {
  const part = await partNamed('serve');
  const [bytes, calls] = ['checks: Sluice: callBytes', 'leases of 250 ids: Sluice: callsPerInterval'];
  const worse = (callBytes: number, callsPerInterval: number) =>
    comparedCounts({ [bytes]: callBytes, [calls]: callsPerInterval }, { [bytes]: 300 }, part).worse;
  expect(worse(310, 8)).toEqual([]);
  expect(worse(320, 20)).toEqual([`${bytes}  300  320  higher`, `${calls}  ≤ 8  20  higher`]);
  expect(comparedCounts({ [bytes]: 300 }, {}, part).worse).toHaveLength(1);
});

test.each(parts)('%s makes its tables of its committed results', async (name) => {
  const part = await partNamed(name);
  const tables = part.tables(readResults(resultFile(name)).results);
  expect(tables.length).toBeGreaterThan(0);
  for (const { rows } of tables) {
    expect(new Set(rows.map((row) => row.length)).size).toBe(1);
    expect(rows.flat().filter((cell) => /NaN|undefined/.test(cell))).toEqual([]);
  }
});

test.runIf(process.env['SLUICE_ALL_CASES'] === 'yes')('every part measures its first case', () => {
  const { status, output } = run('run.mjs', '--rounds', '1', '--first-case', '--contender', 'Sluice');
  if (status !== 0) throw new Error(output);
  for (const part of parts) expect(existsSync(join(bench, `results/some/${part}.json`))).toBe(true);
});

test('a part is measured beside the packages of another clone, and what that clone does not have is named', () => {
  const folder = mkdtempSync(join(tmpdir(), 'beside-'));
  const other = join(folder, 'other');
  const packages = join(other, 'bench/node_modules/@sluice');
  mkdirSync(packages, { recursive: true });
  const contenders = ['Sluice', 'Sluice, with OpenTelemetry'].flatMap((name) => ['--contender', name]);
  const args = ['run.mjs', 'memory', '--first-case', '--rounds', '1', ...contenders, '--beside', other];
  try {
    expect(run(...args).output).toContain('must be the folder of a clone that is built');
    symlinkSync(join(bench, 'node_modules/@sluice/core'), join(packages, 'core'));
    const { status, output } = run(...args);
    if (status !== 0) throw new Error(output);
    expect(output).toMatch(/hot id, awaited: Sluice: nanoseconds +\d+ +\d+ +\d\.\d\d \(/);
    expect(output).toContain('Sluice, with OpenTelemetry of other, hot id, awaited. It has no @sluice/opentelemetry.');
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

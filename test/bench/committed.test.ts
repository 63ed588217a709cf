import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { readResults, writeResults } from '../../bench/harness/result-file.mjs';

const root = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

function printed(script: string, ...args: string[]): string {
  return execFileSync(process.execPath, [script, ...args], { cwd: root, encoding: 'utf8' });
}

test('the table of docs/measured/performance.md equals the committed results', () => {
  expect(textOf('docs/measured/performance.md')).toContain(printed('bench/summary.mjs'));
});

test('its chart is drawn from the committed results', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-chart-'));
  const chart = join(folder, 'chart.svg');
  printed('bench/chart.mjs', chart);
  expect(readFileSync(chart, 'utf8')).toBe(textOf('bench/results/chart.svg'));
  rmSync(folder, { recursive: true });
});

test("the replay's figures in the docs are those of the committed results", () => {
  const { results } = readResults(new URL('bench/results/replay.json', root));
  const cell = (name: string, figure: string, digits: number): string =>
    Number((results.figure('Sluice', name, figure)?.median ?? NaN).toPrecision(digits)).toLocaleString('en-US');
  const rows = ['combined', 'pino', 'pino, gzip', 'combined, hostile'].map((name) => [
    name,
    cell(name, 'linesPerCpuSecond', 3),
    cell(name, 'rssMb', 3),
  ]);
  const cells = textOf('docs/command-line.md')
    .split('\n')
    .map((line) => line.split('|').map((text) => text.trim()))
    .filter(([, name]) => rows.some((row) => row[0] === name));
  expect(cells.map(([, ...row]) => row.slice(0, 3))).toEqual(rows);
});

test('a run that is compared with itself lies nowhere apart', () => {
  const lines = printed('bench/compare.mjs', 'bench/results').split('\n');
  const compared = lines.filter((line) => /^\S.*\d/.test(line) && line.includes('  '));
  expect(compared.length).toBeGreaterThan(20);
  for (const line of compared) expect(line.trim().split(/ {2,}/).at(-2)).toMatch(/^0\.0+×?$/);
  expect(lines).toContain(`Of ${compared.length} cases the two runs lie further apart than their noise in 0.`);
});

test('a run in which everything took twice as long lies that far apart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-compared-'));
  for (const name of readdirSync(new URL('bench/results/', root)).filter((file) => file.endsWith('.json'))) {
    const text = textOf(`bench/results/${name}`);
    const doubled = (_key: string, value: unknown): unknown => (typeof value === 'number' ? 2 * value : value);
    const { results, ...about } = JSON.parse(text) as { results: object };
    writeFileSync(
      join(folder, name),
      JSON.stringify({ ...about, results: JSON.parse(JSON.stringify(results, doubled)) }),
    );
  }
  const lines = printed('bench/compare.mjs', folder).split('\n');
  const row = lines.find((line) => line.startsWith('account ids'));
  const [, here, there, apart] = (row ?? '').split(/ {2,}/).map((cell) => Number.parseFloat(cell));
  expect(there).toBeCloseTo(2 * here!, 0);
  expect(apart).toBeCloseTo(here!, 0);
  expect(lines).toContain('  bytes: heapBytes, account ids');
  rmSync(folder, { recursive: true });
});

test('the committed results are as they would be written again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-results-'));
  const again = pathToFileURL(join(folder, 'again.json'));
  const names = readdirSync(new URL('bench/results/', root)).filter((name) => name.endsWith('.json'));
  expect(names).toContain('memory.json');
  for (const name of names) {
    writeResults(again, readResults(new URL(`bench/results/${name}`, root)));
    expect(readFileSync(again, 'utf8')).toBe(textOf(`bench/results/${name}`));
  }
  rmSync(folder, { recursive: true });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, root), 'utf8');

function printed(script: string, ...args: string[]): string {
  return execFileSync(process.execPath, [script, ...args], { cwd: root, encoding: 'utf8' });
}

test("the README's table of figures is what the committed results say", () => {
  expect(textOf('README.md')).toContain(printed('bench/summary.mjs'));
});

test("the README's chart is drawn from the committed results", () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-chart-'));
  const chart = join(folder, 'chart.svg');
  printed('bench/chart.mjs', chart);
  expect(readFileSync(chart, 'utf8')).toBe(textOf('bench/results/chart.svg'));
  rmSync(folder, { recursive: true });
});

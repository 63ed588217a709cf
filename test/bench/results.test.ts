import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { readResults, writeResults } from '../../bench/harness/result-file.mjs';
import { Results } from '../../bench/harness/results.mjs';

function results(contenders: Readonly<Record<string, readonly (readonly number[])[]>>): Results {
  const measured = new Results();
  for (const [contender, rounds] of Object.entries(contenders)) {
    for (const turns of rounds) {
      measured.add(
        { contender, case: 'hot' },
        turns.map((ns) => ({ ns })),
      );
    }
  }
  return measured;
}

test('a ratio and a difference are taken turn by turn, so that a machine that slows down changes neither', () => {
  const slowing = results({
    ours: [
      [10, 20, 30],
      [40, 80],
    ],
    theirs: [
      [5, 10, 15],
      [20, 40],
    ],
  });
  expect(slowing.ratio('ours', 'theirs', 'hot', 'ns')).toEqual({ median: 2, min: 2, max: 2 });
  expect(slowing.difference('ours', 'theirs', 'hot', 'ns')).toEqual({ median: 15, min: 10, max: 30 });
});

test('a figure is the median of all turns, between the lowest and the highest median of a round', () => {
  const rounds = [
    [1, 2, 90],
    [3, 4, 5],
    [6, 7, 8],
  ];
  expect(results({ ours: rounds }).figure('ours', 'hot', 'ns')).toEqual({ median: 5, min: 2, max: 7 });
});

test('a contender that is not in a case has no figure there', () => {
  const measured = results({ ours: [[1]] });
  expect(measured.figure('theirs', 'hot', 'ns')).toBeUndefined();
  expect(measured.ratio('ours', 'theirs', 'hot', 'ns')).toBeUndefined();
});

test('a result file keeps each round in full lines, and can be read again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-results-'));
  const file = pathToFileURL(join(folder, 'part.json'));
  const turns = Array.from({ length: 39 }, (_, turn) => 1000.5 + turn);
  const machine = { processor: 'any', cores: 2, memoryGb: 1, system: 'any', node: '20' };
  const about = { part: 'part', command: 'any', date: '2026-11-21', machine, versions: {} };
  writeResults(file, { ...about, results: results({ ours: [turns, [7]] }) });
  const lines = readFileSync(file, 'utf8').split('\n');
  expect(lines.filter((line) => /^ +1\d/.test(line))).toHaveLength(3);
  expect(lines.every((line) => line.length <= 120)).toBe(true);
  expect(readResults(file).results.figure('ours', 'hot', 'ns')?.max).toBe(1019.5);
  rmSync(folder, { recursive: true });
});

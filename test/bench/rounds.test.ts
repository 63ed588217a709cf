import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { RunProcess } from '../../bench/harness/processes.mjs';
import { allRounds } from '../../bench/harness/rounds.mjs';
import { part } from './part-that-tells.mjs';

const file = new URL('part-that-tells.mjs', import.meta.url).href;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-rounds-'));
  process.env['TOLD'] = join(folder, 'told');
});

afterEach(() => {
  delete process.env['TOLD'];
  rmSync(folder, { recursive: true });
});

function told(): string[] {
  return readFileSync(join(folder, 'told'), 'utf8').trim().split('\n');
}

function rounds(asked: { quick: boolean; rounds: number }) {
  return allRounds({ name: 'told', file, part }, { ...asked, contenders: ['A', 'B'] });
}

test('the contenders of a case are measured in turns, each after the same other one', async () => {
  await rounds({ quick: false, rounds: 1 });
  const one = ['A one', 'B one', 'A one', 'B one', 'A one', 'B one'];
  const two = ['A two', 'B two', 'A two', 'B two', 'A two', 'B two'];
  expect(told()).toEqual(['A one ready', 'B one ready', ...one, 'A two ready', 'B two ready', ...two]);
});

test('each contender has the machine to itself where a round is one turn', async () => {
  await rounds({ quick: true, rounds: 1 });
  const runs = ['A one', 'A two', 'B one', 'B two'];
  expect(told()).toEqual(runs.flatMap((run) => [`${run} ready`, run]));
});

test('a round has a process of its own for each contender, with all its turns', async () => {
  const results = (await rounds({ quick: false, rounds: 2 })).toJSON();
  for (const { rounds: of } of results)
    expect(of.map(({ turn }) => turn)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  const processes = results.flatMap(({ rounds: of }) => of.map((round) => new Set(round['process'])));
  expect(processes.map(({ size }) => size)).toEqual(processes.map(() => 1));
  expect(new Set(processes.flatMap((ids) => [...ids])).size).toBe(processes.length);
});

test('a run that fails reports the reason', async () => {
  const memory = new URL('../../bench/parts/memory.mjs', import.meta.url).href;
  const run = { contender: 'Nobody', case: 'hot id', settings: { name: 'hot id' } };
  await expect(RunProcess.start(memory, run)).rejects.toThrow(
    /^Nobody, hot id: exit code 1\n[^]*No contender is named Nobody/,
  );
});

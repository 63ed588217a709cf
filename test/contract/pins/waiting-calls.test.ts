import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sized } from '../../sized.ts';

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

async function printed<T>(what: 'bytes' | 'calls', waiting: number): Promise<T> {
  const flags = [
    '--expose-gc',
    '--conditions=@sluice/source',
    '--import',
    file('../../redis/processes/typescript.mjs'),
  ];
  const program = [...flags, file('waiting-calls.ts'), what, String(waiting)];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  return JSON.parse(stdout) as T;
}

test('a call that waits has at most 400 bytes', async () => {
  expect(await printed('bytes', 100_000)).toBeLessThanOrEqual(400);
});

test('behind 100 times as many calls, run and abort do seven steps of a heap more', async () => {
  const [few, many] = await printed<readonly [readonly number[], readonly number[]]>('calls', sized(20_000, 100_000));
  // Each step compares twice, by functions of their own, and moves one call; there are the heaps of keys and of deadlines.
  const steps = Math.ceil(Math.log2(100));
  for (const [i, calls] of many.entries()) expect(calls - few[i]!).toBeLessThanOrEqual(2 * 12 * steps);
  expect(Math.min(...few, ...many)).toBeGreaterThan(10);
});

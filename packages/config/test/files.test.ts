import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadLimits } from '@sluice/config';
import { expect, it } from 'vitest';
import { rejected } from '../../core/test/thrown.ts';
import { readBytes } from '../src/sources/file.ts';
import { folder, KEYS, LIMITS, written } from './written-files.ts';

async function problemOf(path: string, maxBytes?: number): Promise<string> {
  const error = await rejected(() =>
    loadLimits({ defaults: path, keys: KEYS, ...(maxBytes !== undefined && { maxBytes }) }),
  );
  return error.message.replace(/^.*\n/, '').replace(path, 'limits.yaml');
}

it('a file that is missing is said with its whole path', async () => {
  const path = join(folder(), 'limits.yaml');
  expect(await problemOf(path)).toBe(`limits.yaml: There is no such file: ${path}.`);
  writeFileSync(path, '');
  expect(await problemOf(`${path}/x`)).toBe(`limits.yaml: There is no such file: ${path}/x.`);
});

it('a directory is refused', async () => {
  const path = join(folder(), 'limits.yaml');
  mkdirSync(path);
  expect(await problemOf(path)).toBe('limits.yaml: This is a directory, not a file.');
});

it('what is no regular file is refused without waiting for it', async () => {
  const path = join(folder(), 'limits.yaml');
  execFileSync('mkfifo', [path]);
  expect(await problemOf(path)).toBe('limits.yaml: This is no regular file.');
});

it('a file above the bound is refused before it is read', async () => {
  const { defaults } = written({});
  expect(await problemOf(defaults, 10)).toBe(
    'limits.yaml: The text must be at most 10 bytes, but is more. Split it, or raise maxBytes.',
  );
  await expect(loadLimits({ defaults, keys: KEYS, maxBytes: LIMITS.length })).resolves.toBeDefined();
});

it('a file that says less of its size than it holds is refused when the bound is reached', async () => {
  expect(await readBytes('/proc/self/environ', 1)).toEqual({
    refused: expect.stringMatching(/^The text must be at most 1 bytes/),
  });
});

it('a file that can’t be read says why', async () => {
  const path = join(folder(), 'l'.repeat(300));
  expect(await readBytes(path, 10)).toMatchObject({
    refused: expect.stringMatching(/^The file can't be read: ENAMETOOLONG/),
  });
});

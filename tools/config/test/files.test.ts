import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountId, createLimiter } from '@sluice/core';
import { loadLimits, watchLimits } from '@sluice/config';
import { expect, it, onTestFinished } from 'vitest';
import { rejected } from '../../../packages/core/test/support/thrown.ts';
import { readBytes } from '../src/sources/source.ts';
import { folder, KEYS, LIMITS, written } from './written-files.ts';
import { sized } from '../../../test/sized.ts';

async function problemOf(path: string, maxBytes?: number): Promise<string> {
  const error = await rejected(() =>
    loadLimits({ defaults: path, keys: KEYS, ...(maxBytes !== undefined && { maxBytes }) }),
  );
  return error.message.replace(/^.*\n/, '').replace(path, 'limits.yaml');
}

it('a missing file is reported with its whole path', async () => {
  const path = join(folder(), 'limits.yaml');
  expect(await problemOf(path)).toBe(
    `limits.yaml: The file does not exist: ${path}. Check the path and the working directory.`,
  );
  writeFileSync(path, '');
  expect(await problemOf(`${path}/x`)).toBe(
    `limits.yaml: The file does not exist: ${path}/x. Check the path and the working directory.`,
  );
});

it('a directory is rejected', async () => {
  const path = join(folder(), 'limits.yaml');
  mkdirSync(path);
  expect(await problemOf(path)).toBe('limits.yaml: This is a directory, not a file.');
});

it('a path that is not a regular file is rejected without waiting for it', async () => {
  const path = join(folder(), 'limits.yaml');
  execFileSync('mkfifo', [path]);
  expect(await problemOf(path)).toBe('limits.yaml: This is not a regular file.');
});

it('a file above the bound is rejected before it is read', async () => {
  const { defaults } = written({});
  expect(await problemOf(defaults, 10)).toBe(
    'limits.yaml: The text is larger than 10 bytes. Make it smaller, or raise maxBytes.',
  );
  await expect(loadLimits({ defaults, keys: KEYS, maxBytes: LIMITS.length })).resolves.toBeDefined();
});

it('a file that is larger than its reported size is rejected when the bound is reached', async () => {
  const { content } = await readBytes('/proc/self/environ', 1);
  expect(content).toEqual({ rejected: expect.stringMatching(/^The text is larger than 1 bytes/) });
});

it('a file that can’t be read is reported with the reason', async () => {
  const path = join(folder(), 'l'.repeat(300));
  const { content } = await readBytes(path, 10);
  expect(content).toMatchObject({ rejected: expect.stringMatching(/^The file can't be read: ENAMETOOLONG/) });
});

it('a file that exists but can’t be read is reported with the reason, not as one that changes', async () => {
  // It can be opened, but not read from the beginning.
  expect(await problemOf('/proc/self/mem')).toMatch(/: The file can't be read: EIO/);
});

/** Publishes a version as Kubernetes does: a new folder, then a symbolic link that is replaced. An old one is deleted later. */
const PUBLISHING = `
  const { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
  let version = 0;
  const publish = () => {
    const count = (version++ % 2) + 1;
    const folder = 'v' + version;
    mkdirSync(folder);
    writeFileSync(folder + '/limits.yaml', 'A: { count: ' + count + ', period: 1s }');
    writeFileSync(folder + '/overrides.yaml', '- A: { count: ' + count + ', period: 2s, ids: [x] }');
    symlinkSync(folder, 'next');
    renameSync('next', 'current');
    rmSync('v' + (version - 10), { recursive: true, force: true });
    setTimeout(publish, 3 + Math.random() * 5);
  };
  publish();
  console.log('published');
`;

it('limits and overrides are never of two versions, however often both files are replaced together', async () => {
  const dir = folder();
  const [defaults, overrides] = [join(dir, 'current/limits.yaml'), join(dir, 'current/overrides.yaml')];
  const publishing = spawn(process.execPath, ['-e', PUBLISHING], { cwd: dir });
  onTestFinished(() => void publishing.kill());
  await once(publishing.stdout, 'data');
  const setRead = async (): Promise<string> => {
    const loaded = await loadLimits({ defaults, overrides, keys: { A: accountId() } });
    const listed = loaded.overrides.rateOf('A', 'x') as { count: number };
    const limit = loaded.limits['A'] as { count: number };
    return `${limit.count}/${listed.count}`;
  };
  const changing = ({ message }: Error): string | undefined => /changed while/.exec(message)?.[0];
  const seen = new Set<string | undefined>();
  for (let loads = 0; loads < sized(300, 1500) || seen.size < 2; loads++) seen.add(await setRead().catch(changing));
  seen.delete('changed while');
  expect(seen).toEqual(new Set(['1/1', '2/2']));
});

it('a file that changes during each reading is rejected, whether the other changes or not', async () => {
  const { defaults, overrides, dir } = written({ overrides: '[]' });
  let isOver = false;
  const write = (): void => {
    if (isOver) return;
    appendFileSync(defaults, '#\n');
    setImmediate(write);
  };
  write();
  const { message } = await rejected(() => loadLimits({ defaults, overrides, keys: KEYS }));
  isOver = true;
  expect(message.replaceAll(`${dir}/`, '').split('\n').slice(1)).toEqual([
    'limits.yaml: The file changed while it was read, 5 times in a row. Reload when it is no longer being written.',
  ]);
});

it('a path stays the same after a change of the working directory, and is reported as it was given', async () => {
  const { dir } = written({});
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(dir);
  const loaded = await loadLimits({ defaults: 'limits.yaml', keys: KEYS });
  const live = watchLimits(createLimiter({ ...loaded }), loaded, { everyMs: false, log: false });
  process.chdir(before);
  expect((await live.reload()).lastError).toBeUndefined();
  writeFileSync(join(dir, 'limits.yaml'), '');
  expect((await live.reload()).lastError?.message).toContain('\nlimits.yaml:1:1: The limits file is empty.');
});

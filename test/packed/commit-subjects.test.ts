import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const clone = mkdtempSync(join(tmpdir(), 'sluice-commits-'));

beforeAll(() => {
  for (const name of ['hooks', 'commits.mjs', 'pnpm.mjs'])
    cpSync(join(root, 'scripts', name), join(clone, 'scripts', name), { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'core.hooksPath', 'scripts/hooks');
  git('config', 'user.name', 'A developer');
  git('config', 'user.email', 'developer@example.com');
});
afterAll(() => rmSync(clone, { recursive: true }));

it.each([
  ['without an area', 'Faster', 'The subject of this commit must begin with its area'],
  ['of 73 characters', `core: ${'x'.repeat(67)}`, 'must have at most 72 characters, not 73'],
  ['of 73 characters in two lines', `core: ${'x'.repeat(33)}\n${'x'.repeat(33)}`, 'not 73'],
])('the hook refuses a subject %s', (_, message, problem) => {
  const { status, stderr } = commit(message);
  expect(stderr).toContain(problem);
  expect(status).toBe(1);
});

it.each(['fixup! Faster', 'squash! Faster', 'amend! Faster', `Revert "core: ${'x'.repeat(66)}"`])(
  'the hook takes what git writes before the subject of another commit: %s',
  (message) => {
    expect(commit(message)).toMatchObject({ status: 0, stderr: '' });
  },
);

it('the hook and the check take a subject of 72 characters, whatever its body is, and merges', () => {
  expect(commit(`docs, core: ${'x'.repeat(60)}\n\n${'A long line. '.repeat(20)}`).status).toBe(0);
  git('checkout', '--quiet', '-b', 'other');
  expect(commit('core: other').status).toBe(0);
  git('checkout', '--quiet', 'main');
  expect(git('merge', '--no-ff', '-m', 'Merge the branch other', 'other').status).toBe(0);
  expect(spawnSync(process.execPath, ['scripts/commits.mjs'], { cwd: clone }).status).toBe(0);
});

it('the check refuses what was committed without the hook', () => {
  git('commit', '--quiet', '--allow-empty', '--no-verify', '-m', 'Faster');
  const { status, stderr } = spawnSync(process.execPath, ['scripts/commits.mjs'], { cwd: clone, encoding: 'utf8' });
  expect(stderr).toContain('must begin with its area, e.g. `core: ` or `docs, examples: `: Faster');
  expect(status).toBe(1);
});

function commit(message: string) {
  return git('commit', '--quiet', '--allow-empty', '-m', message);
}

function git(...args: readonly string[]) {
  return spawnSync('git', args, { cwd: clone, encoding: 'utf8' });
}

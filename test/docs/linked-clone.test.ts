import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const clone = join(import.meta.dirname, '../..');

test('a program of a clone behind a symbolic link does what it does in the clone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-linked-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(clone, join(folder, 'sluice'), 'dir');
  const printed = execFileSync(process.execPath, [join(folder, 'sluice/scripts/example-log.mjs')], {
    maxBuffer: 2 ** 25,
  });
  expect(printed.toString()).toMatch(/^\d+\.\d+\.\d+\.\d+ - - \[/);
});

test('no program compares the path that it was started by itself', () => {
  const scripts = readdirSync(join(clone, 'scripts')).filter((name) => name.endsWith('.mjs'));
  const comparing = scripts.filter((name) => /argv\[1\]/.test(readFileSync(join(clone, 'scripts', name), 'utf8')));
  expect(comparing).toEqual([]);
});

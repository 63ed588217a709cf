import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Writes an ES module into a folder that is removed after the test, and returns its path. */
export function moduleOf(text: string): string {
  const path = join(folder(), 'module.mjs');
  writeFileSync(path, text);
  return path;
}

/** Writes files into a folder that is removed after the test, and returns their paths. */
export function written(...texts: readonly string[]): string[] {
  const parent = folder();
  return texts.map((text, i) => {
    const path = join(parent, `${i === 0 ? 'limits' : `overrides${i}`}.yaml`);
    writeFileSync(path, text);
    return path;
  });
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Writes files into a folder that is removed after the test, and returns their paths. */
export function written(...texts: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return texts.map((text, i) => {
    const path = join(folder, `${i === 0 ? 'limits' : `overrides${i}`}.yaml`);
    writeFileSync(path, text);
    return path;
  });
}

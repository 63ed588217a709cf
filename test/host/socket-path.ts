import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A path of a socket in a folder of its own, which is deleted after the test. */
export function socketPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'limits.sock');
}

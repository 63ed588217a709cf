import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for sockets. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'sluice-host-'));
  let sockets = 0;
  return {
    path,
    /** A path that no store has yet. */
    newSocket: (): string => join(path, `${sockets++}.sock`),
    /** The files in it, as paths. */
    files: (): readonly string[] => readdirSync(path).map((name) => join(path, name)),
    delete: (): void => rmSync(path, { recursive: true, force: true }),
  };
}

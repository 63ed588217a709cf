// Node 20 keeps the type of the last file that a synchronous function looked at where its resolution of modules reads it.
// After a socket or a pipe it follows no links to a module: a later `import()` fails where packages are linked
// (nodejs/node#51142). Numbers as bigints are kept elsewhere, `rmSync` looks at what it deletes, and `unlinkSync` does not.
import { lstatSync, readdirSync, rmdirSync, unlinkSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';

/** Returns what is at a path, where a link is itself, not what it points to. Returns undefined if nothing is there. */
export function fileAt(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

/** Deletes a file, or a folder with its files, if it is there: another process may delete it at the same time. */
export function remove(path: string): void {
  try {
    if (fileAt(path)?.isDirectory() !== true) return unlinkSync(path);
    for (const name of readdirSync(path)) unlinkSync(join(path, name));
    rmdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

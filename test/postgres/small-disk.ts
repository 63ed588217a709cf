import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Whether this process may mount file systems: only root may. */
export const mayMount = process.getuid?.() === 0;

/** A file system of 128 MB that can be filled. */
export interface SmallDisk {
  /** An empty folder on it. */
  readonly folder: string;
  /** Leaves no byte free. */
  fill(): void;
  /** Takes that back. */
  free(): void;
}

/** Mounts one, until the test ends. */
export function smallDisk(): SmallDisk {
  const disk = mkdtempSync(join(tmpdir(), 'sluice-full-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128m', 'tmpfs', disk]);
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', disk]);
    rmSync(disk, { recursive: true });
  });
  const [folder, filler] = [join(disk, 'data'), join(disk, 'filler')];
  for (const each of [folder, filler]) mkdirSync(each);
  return {
    folder,
    fill() {
      for (let i = 0; !isFull(join(filler, String(i))); i++);
    },
    free() {
      rmSync(filler, { recursive: true });
    },
  };
}

function isFull(file: string): boolean {
  try {
    writeFileSync(file, Buffer.alloc(1_000_000));
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return true;
  }
}

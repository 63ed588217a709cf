import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../tools/cli/dist/main.js', import.meta.url));

/** What a line of a shell has written, and its exit code. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs lines of a shell in which `sluice` is the program that was built. */
export function shell(lines: string, cwd?: string): Promise<Ran> {
  const script = `sluice() { '${process.execPath}' '${MAIN}' "$@"; }\n${lines}`;
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

/** Starts the program that was built. */
export function started(...args: readonly string[]): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [MAIN, ...args]);
}

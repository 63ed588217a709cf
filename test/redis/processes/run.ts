import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bury, forget } from '../servers/undertaker.ts';

const LOADER = new URL('typescript.mjs', import.meta.url).href;

/** Runs a TypeScript file of this folder in a process of its own, on the sources of the packages. */
export function run(file: string, args: readonly string[] = [], env: Record<string, string> = {}): ChildProcess {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: ['--conditions=@sluice/source', '--import', LOADER],
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { pid } = child;
  if (pid !== undefined) {
    bury(pid);
    child.once('exit', () => forget(pid));
  }
  return child;
}

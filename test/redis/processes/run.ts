import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { bury, forget } from '../servers/undertaker.ts';

const LOADER = new URL('typescript.mjs', import.meta.url).href;

/**
 * Runs a file of this folder in a process of its own: JavaScript on the build of the packages, which starts in no
 * time, TypeScript on their sources.
 */
export function run(file: string, args: readonly string[] = [], nodeArgs: readonly string[] = []): ChildProcess {
  const onSources = file.endsWith('.ts') ? ['--conditions=@sluice/source', '--import', LOADER] : [];
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    execArgv: [...onSources, ...nodeArgs],
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { pid } = child;
  if (pid !== undefined) {
    bury(pid);
    child.once('exit', () => forget(pid));
  }
  return child;
}

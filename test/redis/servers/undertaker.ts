import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Reads `+pid` and `-pid` until the process that writes them is gone, however it went, and kills what it left behind.
const SCRIPT = `
folder=$1 pids=' '
while read -r line; do
  case $line in
    +*) pids="$pids\${line#+} " ;;
    -*) pids="\${pids%% \${line#-} *} \${pids#* \${line#-} }" ;;
  esac
done
for pid in $pids; do kill -9 "$pid"; done
rm -rf "$folder"
`;

interface Undertaker {
  readonly folder: string;
  tell(line: string): void;
}

let undertaker: Undertaker | undefined;

/** The folder of all servers of this process. It goes when the process ends. */
export function serversFolder(): string {
  return ours().folder;
}

/** Has a process killed when this one ends, also when it is killed itself. */
export function bury(pid: number): void {
  ours().tell(`+${pid}\n`);
}

/** Takes that back: the process has ended. */
export function forget(pid: number): void {
  ours().tell(`-${pid}\n`);
}

function ours(): Undertaker {
  return (undertaker ??= hire());
}

function hire(): Undertaker {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  // In a process group of its own, it outlives the Ctrl-C that ends this one.
  const child = spawn('sh', ['-c', SCRIPT, 'undertaker', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  const { stdin } = child;
  (stdin as unknown as { unref(): void }).unref();
  return { folder, tell: (line) => void stdin.write(line) };
}

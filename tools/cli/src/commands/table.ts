// The room commands: one file for each command: its arguments, options and example, and what it does.
import type { Command, CommandEntry } from '../console/command.ts';

/** All commands, in the order of the help. A command is loaded only when it is called. */
export const table: ReadonlyMap<string, CommandEntry> = new Map([
  entry('check', 'find mistakes in limits and overrides', async () => (await import('./check.ts')).check),
  entry('overrides', 'list the overrides that end', async () => (await import('./overrides.ts')).overrides),
  entry('explain', 'explain which numbers apply to an id, and why', async () => (await import('./explain.ts')).explain),
  entry('peek', 'show what is left in a bucket', async () => (await import('./peek.ts')).peek),
  entry('reset', 'fill a bucket', async () => (await import('./reset.ts')).reset),
  entry('charge', 'take tokens from a bucket', async () => (await import('./charge.ts')).charge),
  entry('refund', 'give tokens back to a bucket', async () => (await import('./refund.ts')).refund),
  entry('block', 'deny an id for some time', async () => (await import('./block.ts')).block),
  entry('unblock', 'end the block of an id', async () => (await import('./unblock.ts')).unblock),
  entry('blocked', 'list the ids that are blocked, and why', async () => (await import('./blocked.ts')).blocked),
  entry('top', 'list the emptiest buckets', async () => (await import('./top.ts')).top),
  entry('log', 'print who has changed which bucket', async () => (await import('./log.ts')).log),
  entry('doctor', 'find what would fail later on a server', async () => (await import('./doctor.ts')).doctor),
  entry('replay', 'show what limits would have done to a log', async () => (await import('./replay.ts')).replay),
  entry('suggest', 'suggest numbers for a limit from a log', async () => (await import('./suggest.ts')).suggest),
  entry('serve', 'decide for Envoy, nginx, Caddy, HAProxy and Traefik', async () => (await import('./serve.ts')).serve),
  entry('import', 'convert files of other services', async () => (await import('./import.ts')).importCommand),
  entry('simulate', 'compare limits with other algorithms', async () => (await import('./simulate.ts')).simulate),
  entry(
    'completion',
    'print a script that completes words in a shell',
    async () => (await import('./completion.ts')).completion,
  ),
]);

function entry(name: string, summary: string, load: () => Promise<Command>): readonly [string, CommandEntry] {
  return [name, { summary, load }];
}

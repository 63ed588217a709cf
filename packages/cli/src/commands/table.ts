import type { CommandEntry } from '../console/command.ts';

/** All commands, in the order of the help. A command is loaded only when it is called. */
export const table: ReadonlyMap<string, CommandEntry> = new Map([
  ['check', { summary: 'find mistakes in limits and overrides', load: async () => (await import('./check.ts')).check }],
  [
    'explain',
    {
      summary: 'explain which numbers apply to an id, and why',
      load: async () => (await import('./explain.ts')).explain,
    },
  ],
  ['peek', { summary: 'show what is left in a bucket', load: async () => (await import('./peek.ts')).peek }],
  ['reset', { summary: 'fill a bucket', load: async () => (await import('./reset.ts')).reset }],
  ['charge', { summary: 'take tokens from a bucket', load: async () => (await import('./charge.ts')).charge }],
  ['refund', { summary: 'give tokens back to a bucket', load: async () => (await import('./refund.ts')).refund }],
  ['top', { summary: 'list the emptiest buckets', load: async () => (await import('./top.ts')).top }],
  [
    'replay',
    {
      summary: 'show what limits would have done to a log',
      load: async () => (await import('./replay.ts')).replay,
    },
  ],
  [
    'suggest',
    { summary: 'suggest numbers for a limit from a log', load: async () => (await import('./suggest.ts')).suggest },
  ],
  [
    'simulate',
    { summary: 'compare limits with other algorithms', load: async () => (await import('./simulate.ts')).simulate },
  ],
]);

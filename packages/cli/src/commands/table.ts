import type { CommandEntry } from '../console/command.ts';

/** All commands, in the order of the help. A command is loaded only when it is called. */
export const table: ReadonlyMap<string, CommandEntry> = new Map([
  [
    'check',
    {
      summary: 'find mistakes in limits and overrides',
      load: async () => (await import('./check.ts')).check,
    },
  ],
]);

import type { Command } from '../console/command.ts';
import { LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice check`: finds the mistakes of files, with the messages that a server logs. */
export const check: Command = {
  about: [
    'Finds mistakes in a file of limits, and in files of overrides for it: the messages that a server logs, with file, ',
    'line and column. Each file of overrides is checked by itself, so the files of several deployments can be checked in ',
    'one call. The ids of overrides are checked by the idFormat of their limit.',
  ].join(''),
  args: [
    { name: '<limits>', text: 'the file of limits, YAML or JSON; - for stdin' },
    { name: '[overrides...]', text: 'files of overrides' },
  ],
  options: LIMIT_FILE_OPTIONS,
  example: `echo 'Orders: { count: 300, period: 3h, idFormat: accountId }' | sluice check -`,
  run: async (call) => (await import('../actions/check.ts')).runCheck(call),
};

import type { Command } from '../console/command.ts';
import { KEY_OPTIONS } from '../redis/options.ts';
import { LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice explain`: explains which numbers apply to an id, and why. */
export const explain: Command = {
  about: [
    'Explains which numbers apply to an id of a limit and why, what they come to, and where the bucket is in Redis. ',
    'Without an id it explains the limit itself, and without --limit it lists all limits. Calls no server.',
  ].join(''),
  args: [
    { name: '<limits>', text: 'the file of limits, YAML or JSON; - for stdin' },
    { name: '[words...]', text: 'the file of overrides if there is one, and with --limit an id' },
  ],
  options: [{ flags: '--limit <name>', text: 'the limit to explain' }, ...KEY_OPTIONS, ...LIMIT_FILE_OPTIONS],
  example: [
    `echo 'Orders: { count: 300, period: 3h, idFormat: accountId }' |`,
    '  sluice explain - --limit Orders 12345678',
  ].join('\n'),
  run: async (call) => (await import('../actions/explain.ts')).runExplain(call),
};

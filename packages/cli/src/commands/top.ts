import type { Command } from '../console/command.ts';
import { REDIS_OPTIONS } from '../redis/options.ts';
import { LIMIT_FILE_OPTIONS } from './words.ts';

/** `sluice top`: lists the emptiest buckets. */
export const top: Command = {
  about: [
    'Lists the emptiest buckets in Redis, in a cluster those of all primaries. It looks at the keys in small steps with ',
    'pauses, so that it never blocks a server. Ctrl-C ends it with the buckets that it has seen so far.',
  ].join(''),
  args: [
    { name: '<limits>', text: 'the file of limits, YAML or JSON; - for stdin' },
    { name: '[overrides]', text: 'the file of overrides' },
  ],
  options: [
    ...REDIS_OPTIONS,
    { flags: '--limit <name>', text: 'only buckets of this limit' },
    { flags: '--count <n>', text: 'how many buckets to list; default: 10' },
    { flags: '--max-keys <n>', text: 'about how many keys to look at, also of other programs; default: 1000000' },
    ...LIMIT_FILE_OPTIONS,
  ],
  example: [
    `echo 'Orders: { count: 300, period: 3h, idFormat: accountId }' |`,
    '  sluice top --redis redis://127.0.0.1:6379 -',
  ].join('\n'),
  endsItself: true,
  run: async (call) => (await import('../actions/top.ts')).runTop(call),
};

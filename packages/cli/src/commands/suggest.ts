import type { Command } from '../console/command.ts';
import { LOG_OPTIONS } from './log-options.ts';
import { JSON_FILE_OPTION } from './words.ts';

/** `sluice suggest`: numbers for a limit, with what they would have cost. */
export const suggest: Command = {
  about: [
    'Suggests numbers for a limit from access logs: with a burst that ever denies at most a part of the ids, the rate that ',
    'allows a client the fewest requests in a minute, in ten seconds, and in an hour. Each suggestion is replayed, so its ',
    'price is exact. The logs are read several times.',
  ].join(''),
  args: [{ name: '<logs...>', text: 'access logs, also compressed' }],
  options: [
    {
      flags: '--key <source>',
      text: 'where ids come from: ip, network, everyone, header:NAME or json:PATH; default: ip',
    },
    { flags: '--deny-at-most <percent>', text: 'the percentage of ids that may be denied; default: 0.1%' },
    {
      flags: '--only <pattern>',
      text: "the requests that the limit is for: 'POST /orders'; default: all",
      repeats: true,
    },
    { flags: '--cost <pattern=cost>', text: "the cost of some requests: 'POST /orders=5'; default: 1", repeats: true },
    ...LOG_OPTIONS,
    JSON_FILE_OPTION,
  ],
  example: [
    'log=$(mktemp)',
    `echo '203.0.113.7 - - [23/Nov/2026:13:05:59 +0000] "GET / HTTP/1.1" 200 612' > "$log"`,
    'sluice suggest "$log" --key ip --deny-at-most 1%; rm "$log"',
  ].join('\n'),
  endsItself: true,
  run: async (call) => (await import('../actions/suggest.ts')).runSuggest(call),
};

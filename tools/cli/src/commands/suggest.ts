import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { OutputFiles } from '../console/output-files.ts';
import { logOptions } from '../replay/options.ts';
import type { SuggestReport } from '../replay/suggesting/suggest-report.ts';
import { COSTS_OPTION, JSON_FILE_OPTION, LOG_OPTIONS } from './words.ts';

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
    COSTS_OPTION,
    ...LOG_OPTIONS,
    JSON_FILE_OPTION,
  ],
  example: [
    'log=$(mktemp)',
    `echo '203.0.113.7 - - [23/Nov/2026:13:05:59 +0000] "GET / HTTP/1.1" 200 612' > "$log"`,
    'sluice suggest "$log" --key ip --deny-at-most 1%; rm "$log"',
  ].join('\n'),
  endsItself: true,
  async run(call) {
    const { args, console } = call;
    const room = await import('../replay/index.ts');
    const outputs = await OutputFiles.of<SuggestReport>(call, args, []);
    const report = await room.suggest({ ...logOptions(call), key: call.text('key') ?? 'ip' }, console);
    await outputs.write(report, () => console.result(report, () => room.suggestLines(report, console)));
    return report.partial.length === 0 && report.ids > 0 ? EXIT.fine : EXIT.findings;
  },
};

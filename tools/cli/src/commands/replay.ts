import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { OutputFiles } from '../console/output-files.ts';
import { checkFiles } from '../limits/sources.ts';
import { logOptions } from '../replay/options.ts';
import { COSTS_OPTION, JSON_FILE_OPTION, LIMIT_FILE_OPTIONS, LOG_OPTIONS } from './words.ts';

/** `sluice replay`: what limits would have done to the requests of a log. */
export const replay: Command = {
  about: [
    'Reads access logs, decides their requests by limits as a server would have done, in the order of time, and reports who ',
    'would have been denied. Logs may be compressed with gzip, or with zstd where Node reads it. Several logs are read ',
    'together, as those of several servers.',
  ].join(''),
  args: [{ name: '<logs...>', text: 'access logs; - for stdin' }],
  options: [
    { flags: '--limits <file>', text: 'the file of limits, YAML or JSON' },
    { flags: '--overrides <file>', text: 'a file of overrides' },
    {
      flags: '--key <limit=source>',
      text: 'where the ids of a limit come from: ip, network, everyone, header:NAME or json:PATH; default: by its idFormat',
      repeats: true,
    },
    ...LIMIT_FILE_OPTIONS,
    { flags: '--leave-out <limit>', text: 'a limit that is not replayed', repeats: true },
    {
      flags: '--only <limit=pattern>',
      text: "a limit applies to these requests only: 'Orders=POST /orders'",
      repeats: true,
    },
    COSTS_OPTION,
    {
      flags: '--route <pattern>',
      text: "a route of the report: '/users/:id'; default: paths without ids",
      repeats: true,
    },
    ...LOG_OPTIONS,
    {
      flags: '--deny-at-most <percent>',
      text: 'the percentage of ids that the smallest burst may deny; default: 0.1%',
    },
    { flags: '--html <file>', text: 'also write the report as a page with charts, which needs no script' },
    JSON_FILE_OPTION,
    { flags: '--show-ids', text: 'show ids and not hashes of them' },
  ],
  example: [
    `echo 'Requests: { count: 10, period: 1m, idFormat: ipAddress }' |`,
    `  sluice replay --limits - <(echo '203.0.113.7 - - [23/Nov/2026:13:05:59 +0000] "GET / HTTP/1.1" 200 612')`,
  ].join('\n'),
  endsItself: true,
  async run(call) {
    const { args, console } = call;
    const [limits, overrides] = [call.text('limits'), call.text('overrides')];
    if (limits === undefined) throw new UsageError('Which limits? Give the file of them: --limits limits.yaml.');
    await checkFiles([...args, limits, overrides]);
    const [{ loadFiles }, room] = await Promise.all([import('../limits/files.ts'), import('../replay/index.ts')]);
    const loaded = await loadFiles({ limits, overrides }, call);
    const inputs = [...args, limits, overrides, call.text('keys')].filter((file) => file !== undefined);
    const outputs = await OutputFiles.of(call, inputs, [{ flag: '--html', draw: room.reportPage }]);
    const report = await room.replay(
      {
        ...logOptions(call),
        loaded,
        keys: call.texts('key'),
        leaveOut: call.texts('leaveOut'),
        routes: call.texts('route'),
        showIds: call.has('showIds'),
      },
      console,
    );
    await outputs.write(report, () => console.result(report, () => room.reportLines(report, console)));
    const isUnused = report.limits.length === 0 || report.limits.some(({ requests }) => requests === 0);
    return report.partial.length === 0 && !isUnused ? EXIT.fine : EXIT.findings;
  },
};

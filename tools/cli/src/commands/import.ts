import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { OutputFiles } from '../console/output-files.ts';
import { checkFiles, sourceOf } from '../limits/sources.ts';

/** `sluice import`: files of other services, as those of `sluice serve`. */
export const importCommand: Command = {
  about: [
    'Converts files of envoyproxy/ratelimit, also in ConfigMaps and as Envoy Gateway writes them, into limits and tables for ',
    'sluice serve. window keeps its fixed windows, as quotas: the same answers to requests of one hit. bucket allows as many ',
    'requests at once, and as many per unit in the long run. strict never allows more than the number in any unit. Values of ',
    'paths, hosts and methods match in all their spellings. Notes on stderr name what is lost, and the exit code is 1.',
  ].join(''),
  args: [
    { name: '<service>', text: 'envoy', values: ['envoy'] },
    { name: '<files...>', text: 'its files; - for stdin' },
  ],
  options: [
    { flags: '--as <kind>', text: 'window, bucket or strict', values: ['window', 'bucket', 'strict'] },
    { flags: '--limits <file>', text: 'write the limits to a file' },
    { flags: '--tables <file>', text: 'write the tables to a file' },
  ],
  example: [
    `echo '{ domain: ingress, descriptors: [{ key: remote_address, rate_limit: { unit: minute, requests_per_unit: 60 } }] }' |`,
    '  sluice import envoy --as bucket -',
  ].join('\n'),
  async run(call) {
    const { args, console } = call;
    const [service, ...files] = args;
    if (service !== 'envoy')
      throw new UsageError(
        `The service must be envoy, but was '${service}'. For example sluice import envoy ratelimit.yaml --as window.`,
      );
    const room = await import('../import/index.ts');
    const as = room.IMPORT_AS.find((each) => each === call.text('as'));
    if (as === undefined) {
      throw new UsageError(
        `\`--as\` must be one of ${room.IMPORT_AS.join(', ')}. For example --as window for the same answers as before.`,
      );
    }
    await checkFiles(files);
    const outputs = await OutputFiles.of(call, files, [
      { flag: '--limits', draw: room.limitsText },
      { flag: '--tables', draw: room.tablesText },
    ]);
    const imported = await room.imported(
      files.map((file) => sourceOf(file, console.terminal)),
      as,
    );
    const isWritten = call.text('limits') !== undefined || call.text('tables') !== undefined;
    await outputs.write(imported, () => {
      if (!isWritten || console.isJson)
        console.result(imported, () => lines(room.limitsText(imported), room.tablesText(imported)));
    });
    for (const note of imported.notes) console.note(`note: ${note}`);
    return imported.notes.length === 0 ? EXIT.fine : EXIT.findings;
  },
};

function lines(limits: string, tables: string): readonly string[] {
  return ['# limits.yaml', limits.trimEnd(), '---', '# tables.yaml', tables.trimEnd()];
}

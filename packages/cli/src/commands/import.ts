import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { OutputFiles } from '../console/output-files.ts';
import { checkStdin, sourceOf } from '../limits/sources.ts';

/** `sluice import`: files of other services, as those of `sluice serve`. */
export const importCommand: Command = {
  about: [
    'Converts files of envoyproxy/ratelimit into limits and tables for sluice serve. window keeps its fixed windows, as ',
    'quotas: the same answers to requests of one hit. bucket allows as many requests at once, and as many per unit in the ',
    'long run. strict never allows more than the number in any unit. What is not the same as before is said on stderr.',
  ].join(''),
  args: [
    { name: '<service>', text: 'envoy' },
    { name: '<files...>', text: 'its files, one for each domain; - for stdin' },
  ],
  options: [
    { flags: '--as <kind>', text: 'window, bucket or strict' },
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
    checkStdin(files);
    const outputs = await OutputFiles.of(call, files, [
      { flag: '--limits', draw: room.limitsText },
      { flag: '--tables', draw: room.tablesText },
    ]);
    const read = await Promise.all(files.map((file) => room.readEnvoyFile(sourceOf(file, console.terminal))));
    const domains = read.map(({ domain }) => domain);
    const twice = domains.find((domain, i) => domains.indexOf(domain) !== i);
    if (twice !== undefined)
      throw new UsageError(`Two files have the domain ${twice}. Put their descriptors into one.`);
    const imported = room.converted(read, as);
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

import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import type { Call, Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { OutputFiles } from '../console/output-files.ts';
import { checkFiles, sourceOf, STDIN_NAME } from '../limits/sources.ts';
import { JSON_FILE_OPTION } from './words.ts';

/** `sluice simulate`: what limits do with requests that a scenario describes, beside what others do. */
export const simulate: Command = {
  about: [
    'Decides the requests of a scenario by the limiter of your servers on a simulated clock, and beside it by models of ',
    'other algorithms with the same numbers: a fixed window, a sliding-window counter, a leaky bucket as a queue and as ',
    'a meter.',
  ].join(''),
  args: [{ name: '<scenario>', text: 'the file of the scenario, YAML or JSON; - for stdin' }],
  options: [
    { flags: '--compare <models>', text: 'some of fixed,sliding,leaky; default: those of the scenario' },
    { flags: '--svg <file>', text: 'write a picture' },
    { flags: '--html <file>', text: 'write a page' },
    JSON_FILE_OPTION,
  ],
  example: [
    `echo '{ limits: { Requests: { burst: 200, count: 100, period: 1s } },`,
    `  clients: { browser: { arrivals: { burst: 200, at: 5s, over: 100ms } } } }' |`,
    '  sluice simulate --compare fixed,leaky -',
  ].join('\n'),
  async run(call) {
    const { args, console } = call;
    const [word = ''] = args;
    const room = await import('../simulate/index.ts');
    const compare = comparedBy(call, [...room.MODELS.keys()]);
    const outputs = await OutputFiles.of(
      call,
      [word],
      [
        { flag: '--svg', draw: room.simulationPicture },
        { flag: '--html', draw: room.simulationPage },
      ],
    );
    const scenario = await room.readScenario(await textOf(word, call), word === '-' ? STDIN_NAME : word);
    const report = await room.simulate({ ...scenario, compare: compare ?? scenario.compare });
    await outputs.write(report, () => console.result(report, () => room.simulationLines(report, console)));
    return EXIT.fine;
  },
};

async function textOf(word: string, { console }: Call): Promise<string> {
  await checkFiles([word]);
  const source = sourceOf(word, console.terminal);
  const bytes = typeof source === 'string' ? await readFile(source) : ((await source.read()) as Uint8Array);
  if (!isUtf8(bytes)) throw new UsageError(`The scenario ${word} is not valid UTF-8. Save the file as UTF-8.`);
  return new TextDecoder().decode(bytes);
}

/**
 * @param known - The names of all models.
 * @returns Undefined if the scenario decides.
 */
function comparedBy(call: Call, known: readonly string[]): readonly string[] | undefined {
  const names = call
    .text('compare')
    ?.split(',')
    .map((name) => name.trim());
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown === undefined) return names && [...new Set(names)];
  const list = known.join(',');
  throw new UsageError(`\`--compare\` must be a list of ${list}, but has '${unknown}'. For example --compare ${list}.`);
}

import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { messageOf } from '@sluice/core/kit';
import type { Call } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { sourceOf } from '../limits/sources.ts';
import { OutputFiles } from '../console/output-files.ts';
import { MODELS } from '../simulate/algorithms/models.ts';
import { simulationLines } from '../simulate/counting/report-lines.ts';
import { simulationPage } from '../simulate/drawing/page.ts';
import { simulationPicture } from '../simulate/drawing/picture.ts';
import { readScenario } from '../simulate/scenario/read-scenario.ts';
import { simulate } from '../simulate/simulate.ts';

const OUTPUTS = [
  { flag: '--svg', draw: simulationPicture },
  { flag: '--html', draw: simulationPage },
];

/** Runs `sluice simulate`. */
export async function runSimulate(call: Call): Promise<number> {
  const { args, console } = call;
  const [word = ''] = args;
  const compare = comparedBy(call);
  const outputs = await OutputFiles.of(call, [word], OUTPUTS);
  const scenario = await readScenario(await textOf(word, call), word === '-' ? 'stdin' : word);
  const report = await simulate({
    ...scenario,
    compare: compare ?? scenario.compare,
    processes: call.wholeNumber('processes', { min: 1, max: 10_000, unset: scenario.processes }),
  });
  await outputs.write(report, () => console.result(report, () => simulationLines(report, console)));
  return EXIT.fine;
}

async function textOf(word: string, { console }: Call): Promise<string> {
  const source = sourceOf(word, console.terminal);
  const bytes =
    typeof source === 'function'
      ? ((await source()) as Uint8Array)
      : await readFile(source).catch((error: unknown) => {
          throw new UsageError(`The scenario ${word} can't be read: ${messageOf(error)}.`);
        });
  if (!isUtf8(bytes)) throw new UsageError(`The scenario ${word} is not valid UTF-8. Save the file as UTF-8.`);
  return new TextDecoder().decode(bytes);
}

/** @returns Undefined if the scenario decides. */
function comparedBy(call: Call): readonly string[] | undefined {
  const names = call
    .text('compare')
    ?.split(',')
    .map((name) => name.trim());
  const unknown = names?.find((name) => !MODELS.has(name));
  if (unknown === undefined) return names && [...new Set(names)];
  const known = [...MODELS.keys()].join(',');
  throw new UsageError(
    `\`--compare\` must be a list of ${known}, but has '${unknown}'. For example --compare ${known}.`,
  );
}

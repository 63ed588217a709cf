import { checkLimits, type Problem } from '@sluice/config';
import type { Call, Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { moreFormats } from '../limits/formats.ts';
import { checkStdin, sourceOf } from '../limits/sources.ts';

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
  options: [],
  example: `echo 'Orders: { count: 300, period: 3h, idFormat: accountId }' | sluice check -`,
  run: runCheck,
};

async function runCheck({ args, console }: Call): Promise<number> {
  const [limits = '', ...overrides] = args;
  checkStdin(args);
  const defaults = sourceOf(limits, console.terminal);
  const pairs = overrides.length === 0 ? [undefined] : overrides.map((word) => sourceOf(word, console.terminal));
  const problems = new Map<string, Problem>();
  for (const source of pairs) {
    const found = await checkLimits({ defaults, overrides: source, formats: moreFormats() });
    // Those of the limits are found again beside each file of overrides.
    for (const problem of found) problems.set(problem.text, problem);
  }
  const found = [...problems.values()];
  console.result({ problems: found }, () => found.map(({ text }) => text));
  if (found.length === 0) console.note(`No problems in ${args.join(', ')}.`);
  return found.length === 0 ? EXIT.fine : EXIT.findings;
}

import { checkLimits, type Problem } from '@sluice/config';
import type { Call } from '../console/command.ts';
import type { Console } from '../console/console.ts';
import { EXIT } from '../console/exit-code.ts';
import { withFlags } from '../console/failure.ts';
import { idsOf, maxBytesOf } from '../limits/files.ts';
import { checkStdin, sourceOf } from '../limits/sources.ts';

/** Runs `sluice check`. */
export async function runCheck(call: Call): Promise<number> {
  const { args, console } = call;
  const [limits = '', ...overrides] = args;
  checkStdin(args);
  const defaults = sourceOf(limits, console.terminal);
  const pairs = overrides.length === 0 ? [undefined] : overrides.map((word) => sourceOf(word, console.terminal));
  const problems = new Map<string, Problem>();
  const common = { ...(await idsOf(call)), maxBytes: maxBytesOf(call) };
  for (const source of pairs) {
    const found = await checkLimits({ defaults, overrides: source, ...common });
    // Those of the limits are found again beside each file of overrides.
    for (const problem of found) problems.set(problem.text, problem);
  }
  const found = [...problems.values()];
  console.result({ problems: found }, () => found.map((problem) => lineOf(problem, console)));
  if (found.length === 0) console.note(`No problems in ${args.join(', ')}.`);
  return found.length === 0 ? EXIT.fine : EXIT.findings;
}

/** The message, with the file and the position in bold on a terminal. */
function lineOf({ text, message }: Problem, console: Console): string {
  return console.styled('bold', text.slice(0, text.length - message.length)) + withFlags(message);
}

import type { Problem } from '@sluice/config';
import type { Command } from '../console/command.ts';
import type { Console } from '../console/console.ts';
import { EXIT } from '../console/exit-code.ts';
import { withFlags } from '../console/failure.ts';
import { LIMIT_FILE_OPTIONS, LIMITS_WORD } from './words.ts';

/** `sluice check`: finds the mistakes of files, with the messages that a server logs. */
export const check: Command = {
  about: [
    'Finds mistakes in a file of limits, and in files of overrides for it: the messages that a server logs, with file, ',
    'line and column. Each file of overrides is checked by itself, so the files of several deployments can be checked in ',
    'one call. The ids of overrides are checked by the idFormat of their limit. --tables also checks the tables of sluice ',
    'serve, which name these limits. Warns of overrides that have ended or end within 14 days, which is not a mistake.',
  ].join(''),
  args: [LIMITS_WORD, { name: '[overrides...]', text: 'files of overrides' }],
  options: [{ flags: '--tables <file>', text: 'a file of tables, as sluice serve takes it' }, ...LIMIT_FILE_OPTIONS],
  example: `echo 'Orders: { count: 300, period: 3h, idFormat: accountId }' | sluice check -`,
  async run(call) {
    const { args, console } = call;
    const [{ problemsOf, tableProblemsOf }, { endingWarnings }] = await Promise.all([
      import('../limits/files.ts'),
      import('../limits/endings.ts'),
    ]);
    const tables = call.text('tables');
    const found = [
      ...(await problemsOf(args, call)),
      ...(tables === undefined ? [] : await tableProblemsOf(args[0]!, tables, call)),
    ];
    // Stdin is read once: the limits that came from there are not read again.
    const warnings = found.length > 0 || args.includes('-') ? [] : await endingWarnings(args, call);
    console.result({ problems: found, ...(warnings.length > 0 && { warnings }) }, () =>
      found.map((problem) => lineOf(problem, console)),
    );
    for (const warning of warnings) console.note(`Warning: ${warning}`);
    if (found.length === 0)
      console.note(`No problems in ${[...args, ...(tables === undefined ? [] : [tables])].join(', ')}.`);
    return found.length === 0 ? EXIT.fine : EXIT.findings;
  },
};

/** The message, with the file and the position in bold on a terminal. */
function lineOf({ text, message }: Problem, console: Console): string {
  return console.styled('bold', text.slice(0, text.length - message.length)) + withFlags(message);
}

import type { Call, Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { explanationLines, summaryLine } from '../limits/explanation-lines.ts';
import { explanationOf, limiterOf, type Question } from '../limits/explanation.ts';
import { KEYS_OPTION, loadFiles } from '../limits/files.ts';
import { KEY_OPTIONS, keyOptionsOf } from '../redis/options.ts';

/** `sluice explain`: explains which numbers apply to an id, and why. */
export const explain: Command = {
  about: [
    'Explains which numbers apply to an id of a limit and why, what they come to, and where the bucket is in Redis. ',
    'Without an id it explains the limit itself, and without --limit it lists all limits. Calls no server.',
  ].join(''),
  args: [
    { name: '<limits>', text: 'the file of limits, YAML or JSON; - for stdin' },
    { name: '[words...]', text: 'the file of overrides if there is one, and with --limit an id' },
  ],
  options: [{ flags: '--limit <name>', text: 'the limit to explain' }, ...KEY_OPTIONS, KEYS_OPTION],
  example: [
    `echo 'Orders: { count: 300, period: 3h, idFormat: accountId }' |`,
    '  sluice explain - --limit Orders 12345678',
  ].join('\n'),
  run: runExplain,
};

async function runExplain(call: Call): Promise<number> {
  const { console } = call;
  const { limits, overrides, name, text } = wordsOf(call);
  const loaded = await loadFiles({ limits, overrides }, call);
  const limiter = limiterOf(loaded);
  const question: Omit<Question, 'name'> = { loaded, text, keyOptions: await keyOptionsOf(call) };
  if (name !== undefined) {
    const explanation = await explanationOf(limiter, { ...question, name });
    console.result(explanation, () => explanationLines(explanation));
    return EXIT.fine;
  }
  const names = Object.keys(loaded.limits);
  const all = await Promise.all(names.map((each) => explanationOf(limiter, { ...question, name: each })));
  const width = Math.max(0, ...names.map((each) => each.length));
  console.result({ limits: all }, () => all.map((explanation) => summaryLine(explanation, width)));
  return EXIT.fine;
}

interface Words {
  readonly limits: string;
  readonly overrides: string | undefined;
  readonly name: string | undefined;
  readonly text: string | undefined;
}

/** With `--limit` the last word is an id, if there is one. */
function wordsOf(call: Call): Words {
  const [limits = '', ...words] = call.args;
  const name = call.text('limit');
  const most = name === undefined ? 1 : 2;
  if (words.length > most) {
    const remedy = 'For example sluice explain limits.yaml overrides.yaml --limit Orders 12345678.';
    throw new UsageError(`There must be at most ${most + 1} words here, but there are ${call.args.length}. ${remedy}`);
  }
  const text = name === undefined ? undefined : words.at(-1);
  return { limits, overrides: words.length === most ? words[0] : undefined, name, text };
}

import type { Call, Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { UsageError } from '../console/failure.ts';
import { KEY_OPTIONS, keyOptionsOf } from '../redis/options.ts';
import { LIMIT_FILE_OPTIONS, LIMITS_WORD, limitsExample } from './words.ts';

/** `sluice explain`: explains which numbers apply to an id, and why. */
export const explain: Command = {
  about: [
    'Explains which numbers apply to an id of a limit and why, what they come to, and where the bucket is in Redis. ',
    'Without an id it explains the limit itself, and without --limit it lists all limits. Calls no server.',
  ].join(''),
  args: [LIMITS_WORD, { name: '[words...]', text: 'the file of overrides if there is one, and with --limit an id' }],
  options: [{ flags: '--limit <name>', text: 'the limit to explain' }, ...KEY_OPTIONS, ...LIMIT_FILE_OPTIONS],
  example: limitsExample('explain - --limit Orders 12345678'),
  async run(call) {
    const { console } = call;
    const { limits, overrides, name, text } = wordsOf(call);
    const [{ loadFiles }, { explanationOf, limiterOf }, { explanationLines, summaryLine }] = await Promise.all([
      import('../limits/files.ts'),
      import('../limits/explanation.ts'),
      import('../limits/explanation-lines.ts'),
    ]);
    const loaded = await loadFiles({ limits, overrides }, call);
    const limiter = limiterOf(loaded);
    const question = { loaded, text, keyOptions: await keyOptionsOf(call) };
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
  },
};

interface Words {
  readonly limits: string;
  readonly overrides: string | undefined;
  readonly name: string | undefined;
  readonly text: string | undefined;
}

/** No id of a format of Sluice is a word of this form in practice; a file of overrides is. */
const FILE = /\.(?:ya?ml|json)$/i;

/** With `--limit` the last word is an id, if there is one. A single word with the ending of a file is one of overrides. */
function wordsOf(call: Call): Words {
  const [limits = '', ...words] = call.args;
  const name = call.text('limit');
  const most = name === undefined ? 1 : 2;
  if (words.length > most) {
    const remedy = 'For example sluice explain limits.yaml overrides.yaml --limit Orders 12345678.';
    throw new UsageError(`There must be at most ${most + 1} words here, but there are ${call.args.length}. ${remedy}`);
  }
  const [first] = words;
  if (words.length === 1 && name !== undefined && FILE.test(first!))
    return { limits, overrides: first, name, text: undefined };
  const text = name === undefined ? undefined : words.at(-1);
  return { limits, overrides: words.length === most ? first : undefined, name, text };
}

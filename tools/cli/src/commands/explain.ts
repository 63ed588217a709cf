import type { Command } from '../console/command.ts';
import { EXIT } from '../console/exit-code.ts';
import { KEY_OPTIONS, keyOptionsOf } from '../redis/options.ts';
import { LIMIT_FILE_OPTIONS, LIMIT_OPTION, LIMITS_WORD, limitsExample, WORDS } from './words.ts';

/** `sluice explain`: explains which numbers apply to an id, and why. */
export const explain: Command = {
  about: [
    'Explains which numbers apply to an id of a limit and why, what they come to, and where the bucket is in Redis. ',
    'Without an id it explains the limit itself, and without the name of a limit it lists all. Calls no server.',
  ].join(''),
  args: [LIMITS_WORD, { name: '[words...]', text: WORDS }],
  options: [LIMIT_OPTION, ...KEY_OPTIONS, ...LIMIT_FILE_OPTIONS],
  example: limitsExample('explain - Orders 12345678'),
  async run(call) {
    const { console } = call;
    const [{ bucketWords }, { loadFiles }, { explanationOf, limiterOf }, { explanationLines, summaryLine }] =
      await Promise.all([
        import('../limits/bucket-words.ts'),
        import('../limits/files.ts'),
        import('../limits/explanation.ts'),
        import('../limits/explanation-lines.ts'),
      ]);
    const { limits, overrides, limit: name, id: text } = bucketWords(call);
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

import type { Argument, Option } from '../console/command.ts';

/** The words of a command that names one bucket. */
export const BUCKET_WORDS: readonly Argument[] = [
  { name: '<limits>', text: 'the file of limits, YAML or JSON; - for stdin' },
  { name: '<words...>', text: 'the file of overrides if there is one, the name of a limit, and an id' },
];

const KEYS_OPTION: Option = {
  flags: '--keys <module>',
  text: 'an ES module that exports `keys` as your server has them; default: by the idFormat of each limit',
};

/** The options of all commands that read files of limits. */
export const LIMIT_FILE_OPTIONS: readonly Option[] = [
  KEYS_OPTION,
  {
    flags: '--max-bytes <bytes>',
    text: 'the maximum size of a file of limits or overrides, as `maxBytes` of your server; default: 2097152',
  },
];

/** The option of commands whose JSON can also be written to a file. */
export const JSON_FILE_OPTION: Option = {
  flags: '--json-file <file>',
  text: 'also write the result as JSON to a file',
};

import { SHARED_OPTIONS, type Command, type CommandEntry, type Option } from '../console/command.ts';

/** A command, as a shell completes it. */
export interface Completed {
  readonly name: string;
  readonly summary: string;
  /** What its words can be; empty for files. */
  readonly words: readonly string[];
  readonly options: readonly CompletedOption[];
}

/** An option, as a shell completes it. */
export interface CompletedOption {
  /** `--limit`. */
  readonly flag: string;
  readonly text: string;
  readonly takesValue: boolean;
  /** What its value can be; empty for files and others. */
  readonly values: readonly string[];
}

/** Loads all commands, and returns what shells need of them. */
export async function completedCommands(table: ReadonlyMap<string, CommandEntry>): Promise<readonly Completed[]> {
  const loaded = await Promise.all(
    [...table].map(async ([name, entry]) => ({ name, entry, command: await entry.load() })),
  );
  const all = loaded.map(({ name, entry: { summary }, command }) => ({ name, summary, ...partsOf(command) }));
  const names = [...table.keys()];
  return [...all, { name: 'help', summary: 'print the help of a command', words: names, options: [] }];
}

function partsOf({ args, options }: Command): Pick<Completed, 'words' | 'options'> {
  return {
    words: args.flatMap(({ values = [] }) => values),
    options: [...options, ...SHARED_OPTIONS].map(optionOf),
  };
}

function optionOf({ flags, text, values = [] }: Option): CompletedOption {
  const [flag = '', value] = flags.split(' ');
  // The first part is enough beside a list.
  return { flag, text: text.split(/[;:,]/)[0]!, takesValue: value !== undefined, values };
}

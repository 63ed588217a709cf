// The room console: what all commands share: options, output, exit codes, progress, Ctrl-C.
import type { Console } from './console.ts';
import { UsageError } from './failure.ts';

/** A word after the name of a command. */
export interface Argument {
  /** `<limits>`; `[overrides]` if it may be left out, `[overrides...]` for any number of them. */
  readonly name: string;
  /** What it is, for the help. */
  readonly text: string;
  /** What it can be, for the completion of shells. Default: a file. */
  readonly values?: readonly string[];
}

/** An option of a command. */
export interface Option {
  /** `--yes`, or `--redis <url>` for an option with a value. */
  readonly flags: string;
  /** What it does, for the help. */
  readonly text: string;
  /** Whether the option may be given several times. */
  readonly repeats?: boolean;
  /** What its value can be, for the completion of shells. Default: anything, such as a file. */
  readonly values?: readonly string[];
}

/** The options of every command. */
export const SHARED_OPTIONS: readonly Option[] = [
  { flags: '--json', text: 'write the result as JSON' },
  { flags: '--help', text: 'print this help' },
];

/** One command of `sluice`. Every command also has the options `--json` and `--help`. */
export interface Command {
  /** What it does: a paragraph for its help. */
  readonly about: string;
  readonly args: readonly Argument[];
  readonly options: readonly Option[];
  /** Lines for a shell that work as pasted, and change no file. */
  readonly example: string;
  /** Whether the command itself ends after Ctrl-C, with the result so far. Default: it is ended at once. */
  readonly endsItself?: boolean;
  /** @returns The exit code. */
  run(call: Call): Promise<number>;
}

/** A command with its summary, which can be listed without loading the command. */
export interface CommandEntry {
  readonly summary: string;
  load(): Promise<Command>;
}

/** What a {@link Call} is made of. */
export interface CallParts {
  readonly args: readonly string[];
  /** By the name of the flag in camel case. */
  readonly options: ReadonlyMap<string, unknown>;
  readonly console: Console;
  readonly commands: ReadonlyMap<string, CommandEntry>;
}

/** A call of a command: its words, its options and its output. */
export class Call {
  /** The words, without options. */
  readonly args: readonly string[];
  readonly console: Console;
  /** All commands, for the one that describes them to a shell. */
  readonly commands: ReadonlyMap<string, CommandEntry>;
  readonly #options: ReadonlyMap<string, unknown>;

  constructor({ args, options, console, commands }: CallParts) {
    this.args = args;
    this.#options = options;
    this.console = console;
    this.commands = commands;
  }

  /** Whether an option without a value is given. */
  has(name: string): boolean {
    return this.#options.get(name) === true;
  }

  /** Returns the value of an option; undefined if it is not given. */
  text(name: string): string | undefined {
    return this.#options.get(name) as string | undefined;
  }

  /** Returns the values of an option that may be given several times. */
  texts(name: string): readonly string[] {
    return (this.#options.get(name) ?? []) as readonly string[];
  }

  /** Returns milliseconds of an option that is a number of them, or a number with the unit `ms` or `s`. */
  milliseconds(name: string, range: { readonly min: number; readonly max: number; readonly unset: number }): number {
    const [, amount, unit] = /^(\d{1,9})(ms|s)$/.exec(this.text(name) ?? '') ?? [];
    if (amount === undefined) return this.wholeNumber(name, range);
    const value = Number(amount) * (unit === 's' ? 1000 : 1);
    return value >= range.min && value <= range.max ? value : this.wholeNumber(name, range);
  }

  /**
   * Returns the value of an option that is a whole number.
   *
   * @throws {UsageError} If it is another text, or out of range.
   */
  wholeNumber(name: string, range: { readonly min: number; readonly max: number; readonly unset: number }): number {
    const text = this.text(name);
    if (text === undefined) return range.unset;
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= range.min && value <= range.max) return value;
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(
      `\`--${flag}\` must be a whole number from ${range.min} to ${range.max}, but was '${text}'. For example --${flag} ${range.unset}.`,
    );
  }
}

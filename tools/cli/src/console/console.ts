import { systemTime } from '@sluice/core/kit';
import type { Time } from '@sluice/core';
import { jsonText } from './json-text.ts';
import { Progress, type ProgressTotal } from './progress.ts';
import type { Terminal } from './terminal.ts';
import { wrapped } from './wrap.ts';

/** The styles of text, with their codes of ECMA-48 (SGR). */
const STYLES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

/** A style of text on a terminal. */
export type Style = keyof typeof STYLES;

/** Options of a {@link Console}. */
export interface ConsoleOptions {
  /** Whether the result is JSON. */
  readonly isJson: boolean;
  /** By which progress is shown. Default: the process's own time. */
  readonly time?: Time;
}

/** The output of a command: results to stdout, messages to stderr. */
export class Console {
  readonly isJson: boolean;
  readonly terminal: Terminal;
  readonly time: Time;
  #interruption: Promise<undefined> | undefined;

  constructor(terminal: Terminal, { isJson, time = systemTime }: ConsoleOptions) {
    this.terminal = terminal;
    this.isJson = isJson;
    this.time = time;
  }

  /** Aborted by Ctrl-C. A command with `endsItself` then finishes with what it has, and marks it as a part. */
  get interrupted(): AbortSignal {
    return this.terminal.interrupted;
  }

  /** Resolves at Ctrl-C, so that a command need not wait for a pipe that sends nothing more. */
  get interruption(): Promise<undefined> {
    return (this.#interruption ??= new Promise((resolve) => {
      const end = (): void => resolve(undefined);
      if (this.interrupted.aborted) end();
      else this.interrupted.addEventListener('abort', end, { once: true });
    }));
  }

  /** Writes the result: `value` with `--json`, otherwise the lines, which `lines` returns. */
  result(value: unknown, lines: () => Iterable<string>): void {
    if (this.isJson) return this.terminal.write('stdout', jsonText(value));
    for (const line of lines()) this.terminal.write('stdout', `${line}\n`);
  }

  /** Writes a message for people, such as a warning, in lines that fit into the terminal. */
  note(text: string): void {
    for (const line of wrapped(text, this.terminal.columns('stderr'), 2)) this.line(line);
  }

  /** Writes a line to stderr as it is, such as one of a log. */
  line(line: string): void {
    this.terminal.write('stderr', `${line}\n`);
  }

  /** Returns a row of a result as lines that fit into the terminal, of which the others begin below its text. */
  row(text: string): readonly string[] {
    const [start = ''] = /^(?:- | +\S+ {2,})?/.exec(text)!;
    return wrapped(text, this.terminal.columns('stdout'), start.length);
  }

  /** Returns text in a style if stdout is a terminal that shows it, and otherwise the text itself. */
  styled(style: Style, text: string): string {
    if (!this.terminal.hasColors('stdout')) return text;
    const [on, off] = STYLES[style];
    return `\u001B[${on}m${text}\u001B[${off}m`;
  }

  /** Starts to show progress on stderr. Shows nothing if stderr is not a terminal. */
  progress(total: ProgressTotal): Progress {
    return new Progress(this.terminal, this.time, total);
  }
}

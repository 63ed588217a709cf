import { readFileSync } from 'node:fs';

/** A block of a page that a reader follows: a file to write, or commands to run. */
export interface Step {
  /** The page's line, counted from 1, on which the block's first line is. */
  readonly line: number;
  /** `console` for commands with what they print, `sh` for commands without; otherwise the language of a file. */
  readonly language: string;
  readonly text: string;
}

/** A command of a `console` block. */
export interface Command {
  /** Without `$ `, and of several lines if it continues after a backslash. */
  readonly command: string;
  /** What the page shows of its output, up to the line `…`. */
  readonly output: string;
  /** Whether the output is longer than that. */
  readonly isCut: boolean;
}

/** Returns the fenced blocks of a page, in order. */
export function stepsOf(page: string): Step[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(({ index, 1: language = '', 2: code = '' }) => ({
    line: text.slice(0, index).split('\n').length + 1,
    language,
    text: code,
  }));
}

/** Returns the commands of a `console` block. */
export function commandsOf({ text }: Pick<Step, 'text'>): Command[] {
  return [...text.matchAll(/^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command = '', shown = '']) => {
    const output = shown.replace(/^…\n$/m, '');
    return { command, output, isCut: output !== shown };
  });
}

/** Returns the name of a file whose first line is a comment with it, such as `# limits.yaml`. */
export function fileName({ text }: Pick<Step, 'text'>): string | undefined {
  return /^(?:#|\/\/) ([\w.-]+\.\w+)\n/.exec(text)?.[1];
}

/** Returns what a page shows for a command, of which the beginning is given. */
export function shownFor(page: string, beginning: string): Command {
  const all = stepsOf(page)
    .filter(({ language }) => language === 'console')
    .flatMap(commandsOf);
  const found = all.find(({ command }) => command.startsWith(beginning));
  if (found === undefined) throw new Error(`${page} shows no command ${beginning}`);
  return found;
}

import { readFileSync } from 'node:fs';
import { Command as Parser, CommanderError } from 'commander';
import { table } from './commands/table.ts';
import { Call, SHARED_OPTIONS, type Command } from './console/command.ts';
import { reported } from './console/failure.ts';
import { EXIT, EXIT_CODES } from './console/exit-code.ts';
import type { Terminal } from './console/terminal.ts';
import { wrapped } from './console/wrap.ts';

const ABOUT = [
  'Finds numbers for limits in access logs, checks limits in files, explains them, and operates their buckets in Redis.\n\n',
  'Results are written to stdout, messages to stderr.',
].join('');

/** Where the meanings begin, after two spaces. */
const EXIT_COLUMN = 5;

/**
 * Runs one command of `sluice`. Loads no other command, and none for the help of the program.
 *
 * @param args - The words after the name of the program.
 * @returns The exit code.
 */
export async function runSluice(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first, second] = args.filter((word) => !word.startsWith('-'));
  const chosen = first === 'help' ? second : first;
  const entry = chosen === undefined ? undefined : table.get(chosen);
  try {
    const command = await entry?.load();
    let code: number = EXIT.fine;
    const parser = parserOf(terminal);
    for (const [name, { summary }] of table) {
      const own = parser.command(name).summary(summary).description(summary);
      if (command !== undefined && name === chosen) {
        declare(own, command, async (call) => void (code = await interruptible(command, call, terminal)), terminal);
      }
    }
    if (args.length === 0) return helped(parser);
    // Some programs have -v for their version, and others for more messages, which this one has not.
    await parser.parseAsync(args[0] === '-v' ? ['-V'] : [...args], { from: 'user' });
    return terminal.interrupted.aborted ? EXIT.interrupted : code;
  } catch (error) {
    // The parser has already written its message, or the help.
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.fine;
      terminal.write('stderr', `Help: sluice ${entry === undefined ? '' : `${chosen} `}--help\n`);
      return EXIT.failed;
    }
    return reported(error, terminal, chosen!);
  }
}

function parserOf(terminal: Terminal): Parser {
  return new Parser('sluice')
    .description(ABOUT)
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .addHelpText('after', () => exitCodes(terminal))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.write('stdout', text),
      writeErr: (text) => terminal.write('stderr', text),
      outputError: (text, write) => write(withoutSecret(text)),
      getOutHelpWidth: () => terminal.columns('stdout'),
      getErrHelpWidth: () => terminal.columns('stderr'),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    });
}

/** Returns the message about an unknown option without its value, which may be a token: those go into the environment. */
function withoutSecret(text: string): string {
  const [, option] = /^error: unknown option '(-[^=']*)/.exec(text) ?? [];
  if (option === undefined) return text;
  const valueAt = text.indexOf('=');
  const shown = valueAt === -1 ? text : text.slice(0, valueAt) + text.slice(text.lastIndexOf("'"));
  if (!/token|password|secret/i.test(option)) return shown;
  return `${shown}All users of this machine can read the arguments of commands. Put a token of sluice serve into the environment variable SLUICE_OPERATOR_TOKEN.\n`;
}

/** Returns the table of exit codes, as the help shows it. */
function exitCodes(terminal: Terminal): string {
  const rows = EXIT_CODES.flatMap(({ code, meaning }) =>
    wrapped(`  ${String(code).padEnd(EXIT_COLUMN)}${meaning}`, terminal.columns('stdout'), EXIT_COLUMN + 2),
  );
  return ['', 'Exit codes:', ...rows].join('\n');
}

function helped(parser: Parser): number {
  parser.outputHelp({ error: true });
  return EXIT.failed;
}

function declare(
  parser: Parser,
  { about, args, options, example }: Command,
  run: (call: Call) => Promise<void>,
  terminal: Terminal,
): void {
  parser.description(about);
  for (const { name, text } of args) parser.argument(name, text);
  // The parser adds the help itself.
  for (const { flags, text, repeats } of [...options, ...SHARED_OPTIONS.slice(0, 1)]) {
    if (repeats === true) parser.option(flags, text, added);
    else parser.option(flags, text);
  }
  parser.addHelpText('after', `\nExample:\n${example.replace(/^/gm, '  ')}`);
  parser.action(async () => {
    // Loaded late, because it loads the core: the help of a command is shown without it.
    const { Console } = await import('./console/console.ts');
    const given = new Map(Object.entries(parser.opts()));
    const console = new Console(terminal, { isJson: given.get('json') === true });
    return run(new Call({ args: parser.args, options: given, console, commands: table }));
  });
}

/** Adds a value of an option that may be given several times. */
function added(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** Runs a command. Ctrl-C ends it at once, unless it ends by itself with what it has so far. */
function interruptible(command: Command, call: Call, { interrupted }: Terminal): Promise<number> {
  // It may have been pressed while the command was loaded.
  if (interrupted.aborted) return Promise.resolve(EXIT.interrupted);
  const running = command.run(call);
  if (command.endsItself === true) return running;
  const ended = new Promise<number>((resolve) => {
    interrupted.addEventListener('abort', () => resolve(EXIT.interrupted), { once: true });
  });
  return Promise.race([running, ended]);
}

/** Returns the version of this package. */
function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

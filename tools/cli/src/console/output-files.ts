import { randomBytes } from 'node:crypto';
import { access, constants, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Call } from './command.ts';
import { CommandError, UsageError } from './failure.ts';
import { jsonText } from './json-text.ts';

/** A file that a command can write beside its result. */
export interface Output<Report> {
  /** `--html`. */
  readonly flag: string;
  readonly draw: (report: Report) => string;
}

/** The files that a command writes beside its result: those of its options, and that of `--json-file`. */
export class OutputFiles<Report> {
  readonly #files: readonly { readonly file: OutputFile; readonly draw: Output<Report>['draw'] }[];

  private constructor(files: readonly { readonly file: OutputFile; readonly draw: Output<Report>['draw'] }[]) {
    this.#files = files;
  }

  /**
   * Checks that the files of a call can be written, before the command does its work.
   *
   * @param inputs - Files that the command reads. It does not overwrite them.
   * @throws {UsageError} If one can't.
   */
  static async of<Report>(
    call: Call,
    inputs: readonly string[],
    outputs: readonly Output<Report>[],
  ): Promise<OutputFiles<Report>> {
    const given = [...outputs, { flag: '--json-file', draw: jsonText }].flatMap(({ flag, draw }) => {
      const name = call.text(optionOf(flag));
      return name === undefined ? [] : [{ flag, name, draw }];
    });
    for (const [i, { name, flag }] of given.entries()) {
      const other = given.slice(0, i).find((each) => each.name === name);
      if (other === undefined) continue;
      throw new UsageError(`\`${other.flag}\` and \`${flag}\` must be different files, but both are '${name}'.`);
    }
    const files = given.map(async ({ flag, name, draw }) => ({ file: await OutputFile.at(flag, name, inputs), draw }));
    return new OutputFiles(await Promise.all(files));
  }

  /**
   * Writes the files, and then prints the result, even if a file can't be written: a long run is not lost.
   *
   * @throws {CommandError} If a file can't be written.
   */
  async write(report: Report, print: () => void): Promise<void> {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one after the other, so that an error is about the first
      for (const { file, draw } of this.#files) await file.write(draw(report));
    } finally {
      print();
    }
  }
}

/** As {@link Call.text} has it: `jsonFile`. */
function optionOf(flag: string): string {
  return flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A file that a command writes. It is replaced as a whole, so a reader never sees a part of it. */
class OutputFile {
  readonly #name: string;
  /** The path with symbolic links resolved, so that the links are kept. */
  readonly #path: string;

  private constructor(name: string, path: string) {
    this.#name = name;
    this.#path = path;
  }

  /**
   * Checks that a file can be written, before the command does its work.
   *
   * @param option - The option that names the file, such as `--html`.
   * @param inputs - Files that the command reads. It does not overwrite them.
   * @throws {UsageError} If it can't.
   */
  static async at(option: string, name: string, inputs: readonly string[]): Promise<OutputFile> {
    if (name === '' || name === '-')
      throw new UsageError(
        `\`${option}\` must be the name of a file, but was '${name}': stdout is for the result. For example ${option} report.${/[a-z]+/.exec(option)![0]}.`,
      );
    const path = await realpath(name).catch(() => name);
    const old = await stat(path).catch(() => undefined);
    if (old !== undefined && !old.isFile())
      throw new UsageError(
        `The file ${name} can't be written: it is ${old.isDirectory() ? 'a folder' : 'not a regular file'}.`,
      );
    const read = await Promise.all(inputs.map((input) => stat(input).catch(() => undefined)));
    if (old !== undefined && read.some((each) => each?.ino === old.ino && each.dev === old.dev))
      throw new UsageError(`The file ${name} can't be written: the command reads that file. Choose another name.`);
    await access(dirname(path), constants.W_OK).catch((error: unknown) => notWritten(name, path, error));
    return new OutputFile(name, path);
  }

  /** @throws {CommandError} If it can't be written. What was there before then stays. */
  async write(text: string): Promise<void> {
    const temporary = join(dirname(this.#path), `.sluice-${randomBytes(6).toString('hex')}.tmp`);
    try {
      await writeFile(temporary, text, { flag: 'wx', flush: true });
      await rename(temporary, this.#path);
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      notWritten(this.#name, this.#path, error);
    }
  }
}

function notWritten(name: string, path: string, error: unknown): never {
  const { code, message } = error as NodeJS.ErrnoException;
  const why =
    code === 'ENOENT' ? `the folder ${dirname(path)} does not exist` : code === 'ENOSPC' ? 'the disk is full' : message;
  throw new CommandError(`The file ${name} can't be written: ${why}.`);
}

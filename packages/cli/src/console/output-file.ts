import { randomBytes } from 'node:crypto';
import { access, constants, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError, UsageError } from './failure.ts';

/** A file that a command writes. It is replaced as a whole, so a reader never sees a part of it. */
export class OutputFile {
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

import type { Call } from './command.ts';
import { jsonText } from './console.ts';
import { UsageError } from './failure.ts';
import { OutputFile } from './output-file.ts';

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
   * Writes the files, and then prints the result, also if a file can't be written: a long run is not lost.
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

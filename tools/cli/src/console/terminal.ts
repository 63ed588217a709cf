import type { Readable, Writable } from 'node:stream';
import { EXIT } from './exit-code.ts';

/** A stream that may be a terminal. */
type MaybeTty<Stream> = Stream & { readonly isTTY?: boolean | undefined; readonly columns?: number | undefined };

/** What a program is connected to. */
export interface Streams {
  readonly stdin: MaybeTty<Readable>;
  readonly stdout: MaybeTty<Writable>;
  readonly stderr: MaybeTty<Writable>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The output streams: results are written to `stdout`, everything else to `stderr`. */
export type Output = 'stdout' | 'stderr';

const DEFAULT_COLUMNS = 80;

/** The streams of the program, its environment, and whether Ctrl-C was pressed. */
export class Terminal {
  readonly #streams: Streams;
  /** Aborted by the first Ctrl-C. */
  readonly interrupted: AbortSignal;

  constructor(streams: Streams, interrupted: AbortSignal) {
    this.#streams = streams;
    this.interrupted = interrupted;
  }

  /** The terminal of a process. A second Ctrl-C ends it at once, and so does a reader of its output that leaves. */
  static ofProcess(process: NodeJS.Process): Terminal {
    const controller = new AbortController();
    process.once('SIGINT', () => controller.abort());
    for (const stream of [process.stdout, process.stderr]) {
      stream.on('error', (error: NodeJS.ErrnoException) => {
        // As in `sluice top | head`: there is nobody left to tell.
        if (error.code === 'EPIPE') process.exit(EXIT.unread);
        else
          process.stderr.write(`error: The output can't be written: ${error.message}.\n`, () =>
            process.exit(EXIT.failed),
          );
      });
    }
    return new Terminal(process, controller.signal);
  }

  get stdin(): Streams['stdin'] {
    return this.#streams.stdin;
  }

  get env(): Streams['env'] {
    return this.#streams.env;
  }

  /** The width of the terminal in columns; 80 if the output is a file or a pipe. */
  columns(output: Output): number {
    return this.#streams[output].columns ?? DEFAULT_COLUMNS;
  }

  isTty(output: Output): boolean {
    return this.#streams[output].isTTY === true;
  }

  /** Whether text may have colours: on a terminal, unless the environment has `NO_COLOR`. See https://no-color.org. */
  hasColors(output: Output): boolean {
    const { NO_COLOR = '', TERM } = this.env;
    return this.isTty(output) && NO_COLOR === '' && TERM !== 'dumb';
  }

  write(output: Output, text: string): void {
    this.#streams[output].write(text);
  }

  /** Resolves when everything is written. */
  async flush(): Promise<void> {
    const { stdout, stderr } = this.#streams;
    await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))));
  }
}

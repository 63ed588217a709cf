import type { Console } from '../../console/console.ts';
import { EntryReader, WINDOW_MICROS, type EntryReaderParts } from '../entries/entry-reader.ts';
import { detectFormat, type DetectedFormat, type FormatOptions } from '../formats/detect.ts';
import { EnvelopeOpener } from '../formats/envelope.ts';
import type { SortWindow } from '../order/sort-window.ts';
import { beginningOf, hasSample, startingWith } from './beginning.ts';
import { DamagedError } from './decompressed.ts';
import { LineSplitter } from './line-splitter.ts';
import { UsageError } from '../../console/failure.ts';
import type { LogFile } from './log-file.ts';

const NEWLINE = 10;

/** A log whose format is known. */
export interface KnownLog {
  readonly file: LogFile;
  readonly detected: DetectedFormat;
  /** Its chunks from the beginning, if it is open already. */
  readonly opened: AsyncGenerator<Buffer> | undefined;
}

/** How the reading of one log ended. */
export interface LogOutcome {
  readonly name: string;
  readonly format: string;
  /** Bytes that were read, as they are stored. */
  bytes: number;
  /** Why not all of it was read; null if it was. */
  problem: string | null;
}

/**
 * Finds the formats of logs, and sorts them by their first times. Empty logs are left out, and after Ctrl-C those whose first line
 * is not read yet.
 */
export async function knownLogs(
  files: readonly LogFile[],
  options: FormatOptions,
  console: Console,
): Promise<KnownLog[]> {
  const known: KnownLog[] = [];
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop -- so that not all of them are open at the same time
    const log = await knownLog(file, options, console);
    if (log !== undefined) known.push(log);
  }
  return known.toSorted((a, b) => a.detected.firstMicros - b.detected.firstMicros);
}

async function knownLog(
  file: LogFile,
  options: FormatOptions,
  { interrupted, interruption }: Console,
): Promise<KnownLog | undefined> {
  const chunks = file.open(() => undefined);
  const first = await firstLines(file, chunks, interruption);
  // Not closed: closing waits for the next data of a pipe, which may never come.
  if (interrupted.aborted && first?.includes(NEWLINE) !== true) return undefined;
  const detected = first === undefined ? undefined : detectFormat(file.name, first, options);
  // A pipe can be read once only.
  if (file.size === undefined && first !== undefined && detected !== undefined)
    return { file, detected, opened: startingWith(first, chunks) };
  await chunks.return(undefined);
  return detected && { file, detected, opened: undefined };
}

async function firstLines(
  file: LogFile,
  chunks: AsyncGenerator<Buffer>,
  interruption: Promise<undefined>,
): Promise<Buffer | undefined> {
  try {
    return await beginningOf(chunks, hasSample(), interruption);
  } catch (error) {
    throw new UsageError(`The log ${file.name} can't be read: ${(error as Error).message}.`);
  }
}

/** What {@link MergedLogs} needs to read the lines. */
export interface MergedLogsParts extends Omit<EntryReaderParts, 'file' | 'format' | 'sink'> {
  readonly window: SortWindow;
  readonly console: Console;
}

/** Reads several logs at once, so that the requests of all servers are in the order of time. */
export class MergedLogs {
  readonly outcomes: LogOutcome[] = [];
  readonly #parts: MergedLogsParts;
  /** Logs that begin later than what is read at present. */
  readonly #waiting: KnownLog[];
  readonly #open: OpenLog[] = [];

  constructor(logs: readonly KnownLog[], parts: MergedLogsParts) {
    this.#parts = parts;
    this.#waiting = [...logs];
  }

  /** Reads everything, until Ctrl-C. A log that can't be read to its end ends there, and its outcome has the problem. */
  async read(): Promise<void> {
    const { window, console, counts } = this.#parts;
    const sizes = this.#waiting.map(({ file }) => file.size);
    const bytes = sizes.includes(undefined) ? undefined : sizes.reduce<number>((sum, size) => sum + size!, 0);
    const progress = console.progress({ bytes });
    const { interrupted, interruption } = console;
    for (let log = this.#next(); log !== undefined; log = this.#next()) {
      if (interrupted.aborted && !log.isRead) break;
      // oxlint-disable-next-line no-await-in-loop -- always the log that is behind the others
      const hasMore = await (log.isRead ? log.readChunk() : Promise.race([log.readChunk(), interruption]));
      if (hasMore === false) this.#open.splice(this.#open.indexOf(log), 1);
      window.passUntil(this.#behind() - WINDOW_MICROS);
      progress.update(
        this.outcomes.reduce((sum, outcome) => sum + outcome.bytes, 0),
        counts.lines,
      );
    }
    progress.end();
    // Not awaited: after Ctrl-C a pipe may never have more.
    for (const log of this.#open) log.close();
    window.passUntil(Infinity);
  }

  /** The time up to which all logs have been read. */
  #behind(): number {
    return Math.min(...this.#open.map((log) => log.latestMicros), this.#waiting[0]?.detected.firstMicros ?? Infinity);
  }

  #next(): OpenLog | undefined {
    while (this.#waiting.length > 0) {
      const first = this.#waiting[0]!.detected.firstMicros;
      if (this.#open.length > 0 && this.#open.every((log) => log.latestMicros < first)) break;
      this.#begin(this.#waiting.shift()!);
    }
    let behind: OpenLog | undefined;
    for (const log of this.#open) if (behind === undefined || log.latestMicros < behind.latestMicros) behind = log;
    return behind;
  }

  #begin(log: KnownLog): void {
    const { format, envelope } = log.detected;
    const shown = envelope === undefined ? format.name : `${format.name} ${envelope.name}`;
    const outcome: LogOutcome = { name: log.file.name, format: shown, bytes: 0, problem: null };
    this.outcomes.push(outcome);
    this.#open.push(new OpenLog(log, outcome, this.#parts));
  }
}

class OpenLog {
  /** Whether its next chunk has been read already, to find the format. */
  isRead: boolean;
  readonly #chunks: AsyncGenerator<Buffer>;
  readonly #reader: EntryReader;
  readonly #splitter: LineSplitter;
  readonly #outcome: LogOutcome;

  constructor({ file, detected, opened }: KnownLog, outcome: LogOutcome, parts: MergedLogsParts) {
    this.#outcome = outcome;
    this.isRead = opened !== undefined;
    this.#chunks = opened ?? file.open((count) => void (outcome.bytes += count));
    this.#reader = new EntryReader({ ...parts, file: file.name, format: detected.format, sink: parts.window });
    const { envelope } = detected;
    this.#splitter = new LineSplitter(
      envelope === undefined ? this.#reader : new EnvelopeOpener(envelope, this.#reader),
    );
  }

  /** `-Infinity` while no time is known: the first lines of a log may have wrong ones. */
  get latestMicros(): number {
    return this.#reader.latestMicros;
  }

  /** Returns false at the end of the log. */
  async readChunk(): Promise<boolean> {
    this.isRead = false;
    try {
      const next = await this.#chunks.next();
      if (next.done !== true) {
        this.#splitter.push(next.value);
        return true;
      }
    } catch (error) {
      if (!isOfReading(error)) throw error;
      this.#outcome.problem = (error as Error).message;
      // The line in which it broke off is only a part.
      this.#reader.end();
      return false;
    }
    this.#splitter.end();
    this.#reader.end();
    return false;
  }

  close(): void {
    this.#reader.end();
    this.#chunks.return(undefined).catch(() => undefined);
  }
}

/** Whether an error is one of the file or its compression. A compression that Node can't read was found before. */
function isOfReading(error: unknown): boolean {
  return error instanceof DamagedError || typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { UsageError } from '../../console/failure.ts';
import { STDIN_NAME, whyUnreadable } from '../../limits/sources.ts';
import type { Terminal } from '../../console/terminal.ts';
import { beginningOf, startingWith } from './beginning.ts';
import { compressionOf, decompressed, MAGIC_BYTES } from './decompressed.ts';

const CHUNK_BYTES = 262_144;

/** A log to read: a file, or stdin. */
export interface LogFile {
  /** As it was written; of stdin `standard input`. */
  readonly name: string;
  /** In bytes; undefined for stdin and other pipes. */
  readonly size: number | undefined;
  /** Opens the file from its beginning. A pipe can be opened once. */
  open(onBytes: (count: number) => void): AsyncGenerator<Buffer>;
}

/**
 * Finds the logs to read.
 *
 * @throws {UsageError} For a file that can't be read, and for one that is given twice: its requests would count twice.
 */
export async function logFiles(names: readonly string[], terminal: Terminal): Promise<readonly LogFile[]> {
  const seen = new Map<string, string>();
  for (const name of names) {
    // oxlint-disable-next-line no-await-in-loop -- the first of two names is named first
    const identity = await identityOf(name);
    const other = seen.get(identity);
    if (other !== undefined) {
      const same = other === name ? name : `${name}, which is the same file as ${other},`;
      throw new UsageError(`The log ${same} is given twice, so its requests would count twice. Give it once.`);
    }
    seen.set(identity, name);
  }
  return Promise.all(names.map((name) => logFile(name, terminal)));
}

/** The same for all names of a file. */
async function identityOf(name: string): Promise<string> {
  if (name === '-') return name;
  const found = await stat(name, { bigint: true }).catch(() => undefined);
  return found?.isFile() === true ? `${found.dev}:${found.ino}` : `name ${name}`;
}

async function logFile(name: string, terminal: Terminal): Promise<LogFile> {
  if (name === '-') return { name: STDIN_NAME, size: undefined, open: (onBytes) => chunksOf(terminal.stdin, onBytes) };
  const why = await whyUnreadable(name);
  if (why !== undefined) throw new UsageError(`The log ${name} can't be read: ${why}`);
  const found = await stat(name);
  // A pipe, as of the shell's <(command), is like stdin.
  const size = found.isFile() ? found.size : undefined;
  return { name, size, open: (onBytes) => chunksOf(createReadStream(name, { highWaterMark: CHUNK_BYTES }), onBytes) };
}

async function* chunksOf(stream: Readable, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  const raw = counted(stream, onBytes);
  const first = await beginningOf(raw, (_, length) => length >= MAGIC_BYTES);
  if (first === undefined) return;
  const all = startingWith(first, raw);
  const compression = compressionOf(first);
  yield* compression === 'none' ? all : decompressed(all, compression);
}

async function* counted(stream: Readable, onBytes: (count: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    onBytes(chunk.length);
    yield chunk;
  }
}

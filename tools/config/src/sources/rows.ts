import { createHash } from 'node:crypto';
import type { Problems } from '../nodes/problems.ts';
import { BEGINNING } from '../nodes/position.ts';
import { parse, rowsOf, type ParseJob, type ParseMessage, type SourcePart, type Rows } from './parse.ts';
import { PARSER_PROGRAM } from './parser-program.ts';
import { rowsByThread, type ThreadBounds } from './parser-thread.ts';
import { dataNode } from '../nodes/node.ts';

/** Parsing a text up to this size takes less time than starting a thread. */
const SMALL_BYTES = 4096;

/** The maximum size of a text that is parsed in this thread if the program of the worker thread is missing. */
const LARGEST_HERE_BYTES = 262_144;

/** Validates a text, row by row; a large one in a worker thread. Returns the hash of its bytes. */
export function rowsOfText<P extends SourcePart>(
  job: ParseJob<P>,
  problems: Problems,
  bounds: ThreadBounds,
): AsyncGenerator<Rows[P], string> {
  const { length } = job.bytes;
  if (length > SMALL_BYTES && PARSER_PROGRAM !== undefined) return rowsByThread(job, problems, bounds);
  return length <= LARGEST_HERE_BYTES ? rowsHere(job, problems) : rejectedWithoutThread(problems);
}

async function* rowsHere<P extends SourcePart>(job: ParseJob<P>, problems: Problems): AsyncGenerator<Rows[P], string> {
  const messages: ParseMessage[] = [];
  parse(job, (message) => messages.push(message));
  let hash = '';
  for (const message of messages) {
    if ('rows' in message) yield* message.rows as readonly Rows[P][];
    else {
      problems.addAll(message.end);
      hash = message.end.hash;
    }
  }
  return hash;
}

// oxlint-disable-next-line require-yield -- There are no rows.
async function* rejectedWithoutThread(problems: Problems): AsyncGenerator<never, string> {
  problems.addUnreadable(
    BEGINNING,
    `A text of more than ${LARGEST_HERE_BYTES} bytes is parsed in a thread, but the file of the thread is missing: a ` +
      'bundler left it out. Keep the packages of Sluice out of the bundle, for example with --external:@sluice/* of esbuild.',
  );
  return '';
}

/** Validates parsed data, row by row. Returns a hash of the rows. */
export async function* rowsOfData<P extends SourcePart>(
  { part, value }: { readonly part: P; readonly value: unknown },
  problems: Problems,
): AsyncGenerator<Rows[P], string> {
  const hash = createHash('sha256');
  for (const row of rowsOf(part, reading(value), problems)) {
    hash.update(JSON.stringify(row));
    yield row;
  }
  return hash.digest('hex');
}

// oxlint-disable-next-line require-yield -- Data has no early items, only a root.
function* reading(value: unknown): Generator<never, ReturnType<typeof dataNode>> {
  return dataNode(value);
}

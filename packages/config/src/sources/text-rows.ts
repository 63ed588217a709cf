import type { Findings } from '../findings.ts';
import { BEGINNING } from '../place.ts';
import { parse, type ParseJob, type ParseMessage, type Part, type Rows } from './parse.ts';
import { PARSER_PROGRAM } from './parser-program.ts';
import { rowsByThread, type ThreadBounds } from './parser-thread.ts';

/** Up to so many bytes parsing takes less time than starting a thread for it, and less than is noticed. */
const SMALL_BYTES = 4096;

/** Up to so many bytes a text is parsed here when there is no file for a thread. It takes some tens of milliseconds. */
const LARGEST_HERE_BYTES = 262_144;

/** Checks a text, row by row; a large one in a thread of its own. Returns the hash of its bytes. */
export function rowsOfText<P extends Part>(
  job: ParseJob<P>,
  findings: Findings,
  bounds: ThreadBounds,
): AsyncGenerator<Rows[P], string> {
  const { length } = job.bytes;
  if (length > SMALL_BYTES && PARSER_PROGRAM !== undefined) return rowsByThread(job, findings, bounds);
  return length <= LARGEST_HERE_BYTES ? rowsHere(job, findings) : refusedWithoutThread(findings);
}

async function* rowsHere<P extends Part>(job: ParseJob<P>, findings: Findings): AsyncGenerator<Rows[P], string> {
  const messages: ParseMessage[] = [];
  parse(job, (message) => messages.push(message));
  let hash = '';
  for (const message of messages) {
    if ('rows' in message) yield* message.rows as readonly Rows[P][];
    else {
      findings.addAll(message.end);
      hash = message.end.hash;
    }
  }
  return hash;
}

// oxlint-disable-next-line require-yield -- There are no rows.
async function* refusedWithoutThread(findings: Findings): AsyncGenerator<never, string> {
  findings.addUnreadable(
    BEGINNING,
    `A text of more than ${LARGEST_HERE_BYTES} bytes is parsed in a thread, but the file of the thread is missing: a ` +
      'bundler left it out. Keep the packages of Sluice out of the bundle, for example with --external:@sluice/* of esbuild.',
  );
  return '';
}

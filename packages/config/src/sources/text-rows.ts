import type { Findings } from '../findings.ts';
import { parse, type ParseJob, type ParseMessage, type Part, type Rows } from './parse.ts';
import { rowsByThread, type ThreadBounds } from './parser-thread.ts';

/** Up to so many bytes parsing takes less time than starting a thread for it, and less than is noticed. */
const SMALL_BYTES = 4096;

/** Checks a text, row by row; a large one in a thread of its own. Returns the hash of its bytes. */
export function rowsOfText<P extends Part>(
  job: ParseJob<P>,
  findings: Findings,
  bounds: ThreadBounds,
): AsyncGenerator<Rows[P], string> {
  return job.bytes.length <= SMALL_BYTES ? rowsHere(job, findings) : rowsByThread(job, findings, bounds);
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

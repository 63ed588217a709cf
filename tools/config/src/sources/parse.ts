import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import { Problems, type FoundProblem } from '../nodes/problems.ts';
import { limitRows, type LimitRow, type Reading } from '../shape/limits-shape.ts';
import { overrideRows, type OverrideRow } from '../shape/overrides-shape.ts';
import { readYaml } from '../text/yaml-text.ts';
import { positionAt, type Position } from '../nodes/position.ts';

/** Which of the two files it is. */
export type SourcePart = 'defaults' | 'overrides';

/** The type of the rows of each file. */
export interface Rows {
  readonly defaults: LimitRow;
  readonly overrides: OverrideRow;
}

const ROWS_OF = { defaults: limitRows, overrides: overrideRows };

/** Validates a text or data, row by row. */
export function rowsOf<P extends SourcePart>(part: P, reading: Reading, problems: Problems): Generator<Rows[P]> {
  return ROWS_OF[part](reading, problems) as Generator<Rows[P]>;
}

/** The input of a parsing thread. */
export interface ParseJob<P extends SourcePart = SourcePart> {
  readonly part: P;
  /** The text. The buffer may be transferred to the thread, so the caller must not use it afterwards. */
  readonly bytes: Uint8Array;
}

/** A message of a parsing thread: rows, or at the end the problems and the hash of the bytes. */
export type ParseMessage =
  | { readonly rows: readonly (LimitRow | OverrideRow)[] }
  | {
      readonly end: {
        readonly list: FoundProblem[];
        readonly count: number;
        readonly unreadable: boolean;
        hash: string;
      };
    };

/** How many ids, or rows without ids, a message contains. Receiving that many takes well under a millisecond. */
const IDS_PER_MESSAGE = 256;

/** Parses and validates a text, and passes the results to `post`. */
export function parse({ part, bytes }: ParseJob, post: (message: ParseMessage) => void): void {
  const problems = new Problems();
  const hash = createHash('sha256').update(bytes).digest('hex');
  const text = decodeUtf8(bytes, problems);
  if (text !== undefined) {
    for (const rows of batched(rowsOf(part, readYaml(text, problems), problems))) post({ rows });
  }
  const { list, count, unreadable } = problems;
  post({ end: { list, count, unreadable, hash } });
}

function* batched(rows: Iterable<LimitRow | OverrideRow>): Generator<readonly (LimitRow | OverrideRow)[]> {
  let batch: (LimitRow | OverrideRow)[] = [];
  let size = 0;
  for (const row of rows) {
    batch.push(row);
    size += 'ids' in row ? row.ids.length + 1 : 1;
    if (size < IDS_PER_MESSAGE) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  yield batch;
}

/**
 * Decodes UTF-8 and removes a byte order mark. Returns `undefined`, with a problem, if the bytes are not valid UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array, problems: Problems): string | undefined {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  problems.addUnreadable(firstFault(bytes), 'The text is not valid UTF-8 here. Save the file as UTF-8.');
  return undefined;
}

function firstFault(bytes: Uint8Array): Position {
  let start = 0;
  for (let line = 1; ; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline;
    const content = bytes.subarray(start, end);
    if (!isUtf8(content)) return positionAt(line, new TextDecoder().decode(content).indexOf('\uFFFD') + 1);
    start = end + 1;
  }
}

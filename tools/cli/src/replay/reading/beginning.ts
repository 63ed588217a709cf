import { MAX_LINE_BYTES } from './line-splitter.ts';

/**
 * Reads chunks until they are enough, however a pipe cuts them.
 *
 * @param isEnough - Gets the last chunk, and how many bytes all chunks have.
 * @param interruption - Ends the reading with what was read.
 * @returns All chunks as one; undefined if there are none.
 */
export async function beginningOf(
  chunks: AsyncIterator<Buffer>,
  isEnough: (chunk: Buffer, length: number) => boolean,
  interruption?: Promise<undefined>,
): Promise<Buffer | undefined> {
  const read: Buffer[] = [];
  let length = 0;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const next = await (interruption === undefined ? chunks.next() : Promise.race([chunks.next(), interruption]));
    if (next === undefined || next.done === true) break;
    read.push(next.value);
    length += next.value.length;
    if (isEnough(next.value, length)) break;
  }
  return length === 0 ? undefined : read.length === 1 ? read[0] : Buffer.concat(read, length);
}

const NEWLINE = 10;
const RETURN = 13;

/** How many lines of a log show its format. */
export const SAMPLE_LINES = 50;
/** No more bytes are read for them. */
const SAMPLE_BYTES = 1_048_576;

/** Returns a condition for {@link beginningOf}: the lines that show a format, or a first line that is too long. */
export function hasSample(): (chunk: Buffer, length: number) => boolean {
  let lines = 0;
  let isEmpty = true;
  return (chunk, length) => {
    for (const byte of chunk) {
      if (byte === NEWLINE) {
        if (!isEmpty) lines++;
        isEmpty = true;
      } else if (byte !== RETURN) isEmpty = false;
    }
    return lines >= SAMPLE_LINES || length >= (lines === 0 ? MAX_LINE_BYTES : SAMPLE_BYTES);
  };
}

/** Yields what was read already, and then the rest. */
export async function* startingWith(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

import { MAX_LINE_BYTES } from './line-splitter.ts';

/**
 * Reads chunks until they are enough, however a pipe cuts them.
 *
 * @param isEnough - Gets the last chunk, and how many bytes all chunks have.
 * @returns All chunks as one; undefined if there are none.
 */
export async function beginningOf(
  chunks: AsyncIterator<Buffer>,
  isEnough: (chunk: Buffer, length: number) => boolean,
): Promise<Buffer | undefined> {
  const read: Buffer[] = [];
  let length = 0;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { done, value } = await chunks.next();
    if (done === true) break;
    read.push(value);
    length += value.length;
    if (isEnough(value, length)) break;
  }
  return length === 0 ? undefined : read.length === 1 ? read[0] : Buffer.concat(read, length);
}

const NEWLINE = 10;
const RETURN = 13;

/** Returns a condition for {@link beginningOf}: a line that is not empty, or as many bytes as the longest line has. */
export function hasLine(): (chunk: Buffer, length: number) => boolean {
  let hasBegun = false;
  return (chunk, length) => {
    for (const byte of chunk) {
      if (byte === NEWLINE && hasBegun) return true;
      if (byte !== NEWLINE && byte !== RETURN) hasBegun = true;
    }
    return length > MAX_LINE_BYTES;
  };
}

/** Yields what was read already, and then the rest. */
export async function* startingWith(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

import type { LimitSource } from '@sluice/config';
import type { Terminal } from '../console/terminal.ts';
import { UsageError } from '../console/failure.ts';

/** The word that stands for stdin. */
const STDIN = '-';

/** The most bytes that are read from stdin: the largest `maxBytes` of a file. */
const MAX_BYTES = 64 * 2 ** 20;

/** Returns the source of limits or overrides for a word of the command line: a path, or `-` for stdin, read once. */
export function sourceOf(word: string, terminal: Terminal): LimitSource {
  if (word !== STDIN) return word;
  let text: Promise<Uint8Array> | undefined;
  return () => (text ??= readAll(terminal));
}

/**
 * Rejects words that are all to be read from stdin, which has one text.
 *
 * @throws {UsageError}
 */
export function checkStdin(words: readonly (string | undefined)[]): void {
  if (words.filter((word) => word === STDIN).length > 1) {
    throw new UsageError('Only one file can be read from stdin (-). Give the path of the other.');
  }
}

async function readAll({ stdin }: Terminal): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    // The rest is not needed: the text is rejected as too large.
    if (size > MAX_BYTES) break;
  }
  return Buffer.concat(chunks);
}

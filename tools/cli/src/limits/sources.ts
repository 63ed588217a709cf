// The room limits: limits and overrides as a command reads them: files, stdin, id formats.
import type { NamedSource } from '@sluice/config';
import { constants, createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { Terminal } from '../console/terminal.ts';
import { UsageError } from '../console/failure.ts';

/** The word that stands for stdin. */
const STDIN = '-';
/** What messages call it. */
export const STDIN_NAME = 'standard input';

/** The most bytes that are read from stdin: the largest `maxBytes` of a file. */
const MAX_BYTES = 64 * 2 ** 20;

/** Returns the source of limits or overrides for a word of the command line: a path, or `-` for stdin, read once. */
export function sourceOf(word: string, terminal: Terminal): string | NamedSource {
  if (word !== STDIN) return word;
  let text: Promise<Uint8Array> | undefined;
  return { name: STDIN_NAME, read: () => (text ??= readAll(terminal)) };
}

/**
 * Checks that the files of a call can be read, before anything is done with them: a file that is not there is no mistake in a file.
 *
 * @throws {UsageError}
 */
export async function checkFiles(words: readonly (string | undefined)[]): Promise<void> {
  checkStdin(words);
  for (const word of words) {
    if (word === undefined || word === STDIN) continue;
    // oxlint-disable-next-line no-await-in-loop -- the first one is named
    const why = await whyUnreadable(word);
    if (why !== undefined) throw new UsageError(`The file ${word} can't be read: ${why}`);
  }
}

/** Returns why a file can't be read, and what to do; undefined if it can. */
export async function whyUnreadable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isDirectory() ? 'it is a folder.' : undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    return isMissing ? 'it does not exist. Check the path and the working directory.' : `${message}.`;
  }
}

/**
 * Returns the ids of a file, which has one on each line; `-` for stdin. The file was checked by {@link checkFiles}.
 *
 * @throws {UsageError} If it has more than 64 MiB.
 */
export async function idsOf(word: string, terminal: Terminal): Promise<readonly string[]> {
  const bytes = await readAll(word === STDIN ? terminal : { stdin: createReadStream(word) });
  if (bytes.length > MAX_BYTES) throw new UsageError('`--ids` must be a file of at most 64 MiB. Name fewer ids.');
  const ids = String(bytes)
    .split('\n')
    .map((line) => line.trim());
  return [...new Set(ids)].filter((id) => id !== '');
}

/**
 * Rejects words that are all to be read from stdin, which has one text.
 *
 * @throws {UsageError}
 */
function checkStdin(words: readonly (string | undefined)[]): void {
  if (words.filter((word) => word === STDIN).length > 1) {
    throw new UsageError('Only one file can be read from stdin (-). Give the path of the other.');
  }
}

async function readAll({ stdin }: Pick<Terminal, 'stdin'>): Promise<Uint8Array> {
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

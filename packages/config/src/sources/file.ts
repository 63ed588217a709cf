import { constants, type BigIntStats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { messageOf, shownText } from '@sluice/core/limits';
import { tooLarge, type Content } from './source.ts';

/** What a file gave, and the signature of the very file that gave it, wherever its path leads meanwhile. */
export interface FileContent {
  readonly content: Content;
  readonly signature: string;
}

/** Reads a file; one that is too large not to its end. */
export async function readBytes(path: string, maxBytes: number): Promise<FileContent> {
  let file: FileHandle | undefined;
  try {
    // Opening a pipe would wait for its other end otherwise.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat({ bigint: true });
    return { content: await contentOf(file, stats, maxBytes), signature: signatureIn(stats) };
  } catch (cause) {
    const error = cause as NodeJS.ErrnoException;
    return { content: { refused: reasonOf(error, path), cause }, signature: String(error.code) };
  } finally {
    await file?.close();
  }
}

async function contentOf(file: FileHandle, stats: BigIntStats, maxBytes: number): Promise<Content> {
  if (stats.isDirectory()) return { refused: 'This is a directory, not a file.' };
  if (!stats.isFile()) return { refused: 'This is not a regular file.' };
  if (stats.size > maxBytes) return { refused: tooLarge(maxBytes) };
  const chunks: Buffer[] = [];
  // One byte more shows that it has grown past the bound meanwhile.
  const stream = file.createReadStream({ end: maxBytes, autoClose: false });
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return bytes.length > maxBytes ? { refused: tooLarge(maxBytes) } : { bytes };
}

function reasonOf(error: NodeJS.ErrnoException, path: string): string {
  const { code } = error;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return `The file does not exist: ${shownText(path, 400)}. Check the path and the working directory.`;
  return `The file can't be read: ${messageOf(error)}.`;
}

/** What changes when the content of a file does: which file it is, its size, and when it was written. */
export async function signatureOf(path: string): Promise<string> {
  try {
    return signatureIn(await stat(path, { bigint: true }));
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

function signatureIn({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

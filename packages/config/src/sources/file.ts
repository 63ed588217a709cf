import { constants, type BigIntStats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { messageOf, shownText } from '@sluice/core/kit';
import { tooLarge, type Content } from './source.ts';

/** The content of a file, and the signature of the file that was opened, even if its path leads elsewhere by now. */
export interface FileContent {
  readonly content: Content;
  readonly signature: string;
}

/** Reads a file, at most one byte more than `maxBytes`. */
export async function readBytes(path: string, maxBytes: number): Promise<FileContent> {
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat({ bigint: true });
    return { content: await contentOf(file, stats, maxBytes), signature: signatureIn(stats) };
  } catch (cause) {
    const error = cause as NodeJS.ErrnoException;
    return { content: { rejected: reasonOf(error, path), cause }, signature: String(error.code) };
  } finally {
    await file?.close();
  }
}

async function contentOf(file: FileHandle, stats: BigIntStats, maxBytes: number): Promise<Content> {
  if (stats.isDirectory()) return { rejected: 'This is a directory, not a file.' };
  if (!stats.isFile()) return { rejected: 'This is not a regular file.' };
  if (stats.size > maxBytes) return { rejected: tooLarge(maxBytes) };
  const chunks: Buffer[] = [];
  // `end` is inclusive: one byte more than the maximum shows that the file has grown beyond it since `stat`.
  const stream = file.createReadStream({ end: maxBytes, autoClose: false });
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return bytes.length > maxBytes ? { rejected: tooLarge(maxBytes) } : { bytes };
}

function reasonOf(error: NodeJS.ErrnoException, path: string): string {
  const { code } = error;
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return `The file does not exist: ${shownText(path, 400)}. Check the path and the working directory.`;
  return `The file can't be read: ${messageOf(error)}.`;
}

/** Returns a text that changes with the content of a file: device, inode, size, and times of change. */
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

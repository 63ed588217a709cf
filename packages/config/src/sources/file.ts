import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { tooLarge, type Content } from './source.ts';

/** Reads a file; one that is too large not to its end. */
export async function readBytes(path: string, maxBytes: number): Promise<Content> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) return { refused: 'This is a directory, not a file.' };
    if (!stats.isFile()) return { refused: 'This is no regular file.' };
    if (stats.size > maxBytes) return { refused: tooLarge(maxBytes) };
    return await readAtMost(path, maxBytes);
  } catch (cause) {
    return { refused: reasonOf(cause as NodeJS.ErrnoException, path), cause };
  }
}

async function readAtMost(path: string, maxBytes: number): Promise<Content> {
  const chunks: Buffer[] = [];
  // One byte more shows that it has grown past the bound meanwhile.
  for await (const chunk of createReadStream(path, { end: maxBytes })) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  return bytes.length > maxBytes ? { refused: tooLarge(maxBytes) } : { bytes };
}

function reasonOf({ code, message }: NodeJS.ErrnoException, path: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `There is no such file: ${resolve(path)}.`;
  return `The file can't be read: ${message}.`;
}

/** What changes when the content of a file does: which file it is, its size, and when it was written. */
export async function signatureOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

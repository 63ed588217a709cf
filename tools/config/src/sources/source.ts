// The room sources: files and functions, and the files of ids that they name, read and parsed in slices.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Awaitable, Time } from '@sluice/core';
import { complaint, messageOf, reasonOf, shownText } from '@sluice/core/kit';
import { constants, type BigIntStats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';

/**
 * A source of limits or overrides: the path or `file:` URL of a YAML or JSON file, or a function that returns the text,
 * its UTF-8 bytes or the parsed data, for example from a database. A relative path starts at the working directory of
 * the moment of the call. A function may be async, and has 60 seconds to answer.
 */
export type LimitSource = string | URL | (() => Awaitable<unknown>) | NamedSource;

/** A function as a {@link LimitSource}, with a name for messages. */
export interface NamedSource {
  /** What messages call it instead of `defaults` or `overrides`: `the table limits`. Not empty. */
  readonly name: string;
  /** Returns what a function as a source returns. */
  readonly read: () => Awaitable<unknown>;
}

/** A validated source. */
export interface Source<P extends string = string> {
  readonly part: P;
  /** The name in messages: the path as it was given, or the part. */
  readonly label: string;
  /** The absolute path of the file, or the function. */
  readonly from: string | (() => Awaitable<unknown>);
}

/** Bounds of a reading. */
export interface ReadBounds {
  readonly maxBytes: number;
  /** The maximum time that a function may take. */
  readonly timeMs: number;
  /** By which `timeMs` is measured. */
  readonly time: Time;
}

/** The content of a source: the bytes of a text, parsed data, or the reason why the source can't be read. */
export type Content =
  | { readonly bytes: Uint8Array }
  | { readonly value: unknown }
  | { readonly rejected: string; readonly cause?: unknown };

/**
 * Validates a source.
 *
 * @throws {SluiceError} `ERR_OPTION` if it is neither a path, a `file:` URL nor a function.
 */
export function sourceOf<P extends string>(part: P, given: LimitSource): Source<P> {
  if (typeof given === 'function') return { part, label: part, from: given };
  if (isNamed(given)) return { part, label: given.name, from: given.read };
  const path = pathOf(part, given);
  // Absolute, so that a later change of the working directory does not matter.
  return { part, label: path, from: resolve(path) };
}

/** Users without types may pass anything. */
function isNamed(given: unknown): given is NamedSource {
  const { name, read } = Object(given) as Partial<NamedSource>;
  return typeof name === 'string' && name !== '' && typeof read === 'function';
}

function pathOf(part: string, given: string | URL): string {
  if (typeof given === 'string' && given !== '' && !given.includes('\0')) return given;
  if (given instanceof URL && given.protocol === 'file:') return fileURLToPath(given);
  throw complaint('ERR_OPTION', {
    option: part,
    demand: 'the path of a file, a file: URL, or a function that returns text or data',
    value: given instanceof URL ? given.href : given,
    remedy: `For example ${part}: '${part === 'defaults' ? 'limits' : part}.yaml'.`,
  });
}

const LATE = Symbol('late');

/** Calls the function of a source and returns its content. */
export async function readFunction(read: () => Awaitable<unknown>, bounds: ReadBounds): Promise<Content> {
  const { maxBytes, timeMs, time } = bounds;
  let end!: (late: symbol) => void;
  const late = new Promise<symbol>((give) => (end = give));
  const alarm = time.alarm(timeMs, () => end(LATE));
  alarm.unref();
  let value: unknown;
  try {
    value = await Promise.race([read(), late]);
  } catch (cause) {
    return { rejected: `The function threw ${reasonOf(cause)}.`, cause };
  } finally {
    alarm.cancel();
  }
  if (value === LATE) return { rejected: `The function did not answer within ${timeMs} ms.` };
  if (typeof value === 'string') value = Buffer.from(value);
  if (!(value instanceof Uint8Array)) return { value };
  return value.length > maxBytes ? { rejected: tooLarge(maxBytes) } : { bytes: value };
}

/** The message for a text above the maximum size. */
function tooLarge(maxBytes: number): string {
  return `The text is larger than ${maxBytes} bytes. Make it smaller, or raise maxBytes.`;
}

/** How many times files are read that change during the reading. */
export const READINGS = 5;

/**
 * Reads the sources. The contents of the files are those of one moment: if a file changes during the reading, all files
 * are read again, so that new defaults are never combined with old overrides.
 */
export async function contentsOf(sources: readonly Source[], bounds: ReadBounds): Promise<readonly Content[]> {
  const asked = sources.map(({ from }) => (typeof from === 'string' ? undefined : readFunction(from, bounds)));
  // Functions may be slow, so the files are read together after them.
  const given = await Promise.all(asked);
  const paths = sources.map(({ from }) => from).filter((from) => typeof from === 'string');
  const files = await readTogether(paths, bounds);
  return given.map((content) => content ?? files.shift()!);
}

async function readTogether(paths: readonly string[], { maxBytes }: ReadBounds): Promise<Content[]> {
  for (let reading = 1; ; reading++) {
    const files = await Promise.all(paths.map((path) => readBytes(path, maxBytes)));
    const now = await Promise.all(paths.map(signatureOf));
    const isChanged = ({ signature }: FileContent, i: number): boolean => signature !== now[i];
    if (!files.some(isChanged)) return files.map(({ content }) => content);
    if (reading === READINGS) {
      return files.map((file, i) => (isChanged(file, i) ? { rejected: CHANGING } : file.content));
    }
  }
}

/** Why such files are rejected. */
export const CHANGING: string = `The file changed while it was read, ${READINGS} times in a row. Reload when it is no longer being written.`;

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
    // A file that exists but can't be read has not changed.
    const signature = isMissing(error) ? String(error.code) : await signatureOf(path);
    return { content: { rejected: fileError(error, path), cause }, signature };
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

function fileError(error: NodeJS.ErrnoException, path: string): string {
  if (isMissing(error))
    return `The file does not exist: ${shownText(path, 400)}. Check the path and the working directory.`;
  return `The file can't be read: ${messageOf(error)}.`;
}

/** Whether a file does not exist. */
export function isMissing({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Returns a text that changes with the content of a file: device, inode, size, and times of change. */
export async function signatureOf(path: string): Promise<string> {
  try {
    return signatureIn(await stat(path, { bigint: true }));
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Returns a text that changes with the content of one of the files. */
export async function signaturesOf(paths: readonly string[]): Promise<string> {
  return (await Promise.all(paths.map(signatureOf))).join(' ');
}

function signatureIn({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Awaitable } from '@sluice/core';
import { complaint, reasonOf } from '@sluice/core/kit';
import type { Part } from './parse.ts';

/**
 * A source of limits or overrides: the path or `file:` URL of a YAML or JSON file, or a function that returns the text,
 * its UTF-8 bytes or the parsed data, for example from a database. A relative path starts at the working directory of
 * the moment of the call. A function may be async, and has 60 seconds to answer.
 */
export type LimitSource = string | URL | (() => Awaitable<unknown>);

/** A validated source. */
export interface Source<P extends Part = Part> {
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
export function sourceOf<P extends Part>(part: P, given: LimitSource): Source<P> {
  if (typeof given === 'function') return { part, label: part, from: given };
  const path = pathOf(part, given);
  // Absolute, so that a later change of the working directory does not matter.
  return { part, label: path, from: resolve(path) };
}

function pathOf(part: Part, given: string | URL): string {
  if (typeof given === 'string' && given !== '' && !given.includes('\0')) return given;
  if (given instanceof URL && given.protocol === 'file:') return fileURLToPath(given);
  throw complaint('ERR_OPTION', {
    option: part,
    demand: 'the path of a file, a file: URL, or a function that returns text or data',
    value: given instanceof URL ? given.href : given,
    remedy: `For example ${part}: '${part === 'defaults' ? 'limits' : 'overrides'}.yaml'.`,
  });
}

const LATE = Symbol('late');

/** Calls the function of a source and returns its content. */
export async function readFunction(read: () => Awaitable<unknown>, { maxBytes, timeMs }: ReadBounds): Promise<Content> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<symbol>((give) => {
    timer = setTimeout(give, timeMs, LATE);
    timer.unref();
  });
  let value: unknown;
  try {
    value = await Promise.race([read(), late]);
  } catch (cause) {
    return { rejected: `The function threw ${reasonOf(cause)}.`, cause };
  } finally {
    clearTimeout(timer);
  }
  if (value === LATE) return { rejected: `The function did not answer within ${timeMs} ms.` };
  if (typeof value === 'string') value = Buffer.from(value);
  if (!(value instanceof Uint8Array)) return { value };
  if (value.length > maxBytes) return { rejected: tooLarge(maxBytes) };
  // A copy, because the buffer is transferred to the parsing thread.
  return { bytes: new Uint8Array(value) };
}

/** The message for a text above the maximum size. */
export function tooLarge(maxBytes: number): string {
  return `The text is larger than ${maxBytes} bytes. Make it smaller, or raise maxBytes.`;
}

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Awaitable } from '@sluice/core';
import { complaint, reasonOf } from '@sluice/core/limits';
import type { Part } from './parse.ts';

/**
 * Where limits or overrides come from: the path of a YAML or JSON file, or a function that gives its text, its bytes,
 * or what was parsed of it, from a database or over HTTP.
 */
export type LimitSource = string | URL | (() => Awaitable<unknown>);

/** A source that was checked. */
export interface Source<P extends Part = Part> {
  readonly part: P;
  /** What messages call it: the path as it was given, or the part. */
  readonly label: string;
  /** Whom to ask for its text or its data: a file by its whole path, or a function. */
  readonly from: string | (() => Awaitable<unknown>);
}

/** Bounds of a reading. */
export interface ReadBounds {
  readonly maxBytes: number;
  /** How long a function may take. */
  readonly timeMs: number;
}

/** What a source gave, or why it gave nothing. */
export type Content =
  { readonly bytes: Uint8Array } | { readonly value: unknown } | { readonly refused: string; readonly cause?: unknown };

/**
 * Checks a source.
 *
 * @throws {SluiceError} `ERR_OPTION` for what is neither a path nor a function.
 */
export function sourceOf<P extends Part>(part: P, given: LimitSource): Source<P> {
  if (typeof given === 'function') return { part, label: part, from: given };
  const path = pathOf(part, given);
  // Whole, so that it leads to the same file wherever the process goes.
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

/** Asks a function for its text or its data. */
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
    return { refused: `The function threw ${reasonOf(cause)}.`, cause };
  } finally {
    clearTimeout(timer);
  }
  if (value === LATE) return { refused: `The function did not answer within ${timeMs} ms.` };
  if (typeof value === 'string') value = Buffer.from(value);
  if (!(value instanceof Uint8Array)) return { value };
  if (value.length > maxBytes) return { refused: tooLarge(maxBytes) };
  // A copy: the thread that parses takes the bytes for itself.
  return { bytes: new Uint8Array(value) };
}

/** What is said of a text above the bound. */
export function tooLarge(maxBytes: number): string {
  return `The text is larger than ${maxBytes} bytes. Make it smaller, or raise maxBytes.`;
}

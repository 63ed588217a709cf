import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Awaitable } from '@sluice/core';
import { complaint } from '@sluice/core/limits';
import { readBytes } from './file.ts';
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
  /** The path of a file; `undefined` for a function. */
  readonly path: string | undefined;
  readonly isFunction: boolean;
  /** Gives its text, or its data. */
  readonly read: (bounds: ReadBounds) => Promise<Content>;
}

/** Bounds of a reading. */
interface ReadBounds {
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
  if (typeof given === 'function') {
    return { part, label: part, path: undefined, isFunction: true, read: (bounds) => readFunction(given, bounds) };
  }
  const path = pathOf(part, given);
  return { part, label: path, path, isFunction: false, read: ({ maxBytes }) => readBytes(path, maxBytes) };
}

function pathOf(part: Part, given: string | URL): string {
  if (typeof given === 'string' && given !== '' && !given.includes('\0')) return given;
  if (given instanceof URL && given.protocol === 'file:') return fileURLToPath(given);
  throw complaint('ERR_OPTION', {
    option: part,
    demand: 'the path of a file, a file: URL, or a function that gives text or data',
    value: given instanceof URL ? given.href : given,
    remedy: `For example ${part}: '${part === 'defaults' ? 'limits' : 'overrides'}.yaml'.`,
  });
}

const LATE = Symbol('late');

async function readFunction(read: () => Awaitable<unknown>, { maxBytes, timeMs }: ReadBounds): Promise<Content> {
  let value: unknown;
  try {
    value = await Promise.race([read(), setTimeout(timeMs, LATE, { ref: false })]);
  } catch (cause) {
    return {
      refused: `The function threw ${cause instanceof Error ? `${cause.name}: ${cause.message}` : 'something'}.`,
      cause,
    };
  }
  if (value === LATE) return { refused: `The function must answer within ${timeMs} ms, but did not.` };
  if (typeof value === 'string') value = Buffer.from(value);
  if (!(value instanceof Uint8Array)) return { value };
  if (value.length > maxBytes) return { refused: tooLarge(maxBytes) };
  // A copy: the thread that parses takes the bytes for itself.
  return { bytes: new Uint8Array(value) };
}

/** What is said of a text above the bound. */
export function tooLarge(maxBytes: number): string {
  return `The text must be at most ${maxBytes} bytes, but is more. Split it, or raise maxBytes.`;
}

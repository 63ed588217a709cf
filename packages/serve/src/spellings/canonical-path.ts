import { textOf } from './bytes.ts';
import { MAX_PATH } from './path-spellings.ts';
import {
  compatible,
  decoded,
  upToFragment,
  upToNul,
  upToQuery,
  withForwardSlashes,
  withMergedSlashes,
  withResolvedDots,
  withoutControls,
  withoutLastSlashes,
  withoutParameters,
  withTrimmedSegments,
  type PathStep,
} from './path-steps.ts';

const STEPS: readonly PathStep[] = [
  upToQuery,
  upToFragment,
  decoded,
  compatible,
  withForwardSlashes,
  upToNul,
  withoutControls,
  withoutParameters,
  withMergedSlashes,
  withResolvedDots,
  withTrimmedSegments,
  withoutLastSlashes,
];
/** A path that is encoded more often than this is left as it is then. */
const MAX_ROUNDS = 16;

/**
 * Returns the one spelling of a path by which ids are made: decoded, with `//`, `.` and `..` resolved, and without query,
 * parameters and slashes at its end. Only the first {@link MAX_PATH} bytes are read.
 *
 * @param target - As in the request line, in bytes: a path with or without a query, or a URL.
 */
export function canonicalPath(target: string): string {
  let path =
    upToQuery(target.slice(0, MAX_PATH)).replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || (target === '' ? '' : '/');
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = path;
    for (const step of STEPS) path = step(path);
    if (path === before) break;
  }
  return path;
}

/** Returns a path as a text. Of bytes that are not UTF-8, each one that is not ASCII is written as `%FF`. */
export function pathText(path: string): string {
  return textOf(path) ?? path.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

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
/** The one spelling of all paths that are too long. By their beginnings a client could have any number of them. */
const LONG_PATH = `(longer than ${MAX_PATH} bytes)`;

/**
 * Returns the one spelling of a path by which ids are made: decoded, with `//`, `.` and `..` resolved, and without query,
 * parameters and slashes at its end. All paths that are longer than {@link MAX_PATH} have one.
 *
 * @param target - As in the request line, in bytes: a path with or without a query, or a URL.
 */
export function canonicalPath(target: string): string {
  const given = upToQuery(target);
  if (given.length > MAX_PATH) return LONG_PATH;
  let path = given.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || (target === '' ? '' : '/');
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = path;
    for (const step of STEPS) {
      path = step(path);
      // One character may become 18.
      if (path.length > MAX_PATH) return LONG_PATH;
    }
    if (path === before) break;
  }
  return path;
}

/** Returns a path as a text. Of bytes that are not UTF-8, each one that is not ASCII is written as `%FF`. */
export function pathText(path: string): string {
  return textOf(path) ?? path.replaceAll(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
}

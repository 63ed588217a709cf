import { PATH_STEPS } from './path-steps.ts';
import { UNKNOWN, type Spellings } from './spellings.ts';

/** A path of a client that is not hostile has one to ten. */
const MAX_SPELLINGS = 64;
/** All spellings together have at most so many bytes: a long path may have fewer spellings. */
const MAX_BYTES = 16_384;

/** The most bytes of a path that is read. Servers accept 8 to 64 kB for a whole request line. */
export const MAX_PATH = 8192;

/** Matches a path that some step changes; some that it matches have one spelling all the same. */
const MAY_DIFFER = /[^!$&'()*+,\-./0-9:=@A-Z_a-z~]|\/[/.]|\.(?:\/|$)|[^]\/$|^[^/]/;

/**
 * Returns all spellings of the path in a request target: what any chain of {@link PATH_STEPS} makes of it. The number of them
 * is bounded, so that a hostile path costs little; of one that is longer than {@link MAX_PATH} none is known.
 *
 * @param target - As in the request line, in bytes: a path with or without a query, or a URL.
 */
export function pathSpellings(target: string): Spellings {
  const at = target.indexOf('?');
  const [path, rest] = at === -1 ? [target, ''] : [target.slice(0, at), target.slice(at)];
  if (path.length > MAX_PATH) return UNKNOWN;
  if (path !== '' && !MAY_DIFFER.test(path)) return { texts: [path], areAll: true, rest };
  const texts = new Set([path]);
  let bytes = path.length;
  for (const text of texts) {
    for (const step of PATH_STEPS) {
      const next = step(text);
      if (texts.has(next)) continue;
      bytes += next.length;
      if (texts.size === MAX_SPELLINGS || bytes > MAX_BYTES) return { texts: [...texts], areAll: false, rest };
      texts.add(next);
    }
  }
  return { texts: [...texts], areAll: true, rest };
}

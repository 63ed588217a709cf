import { bytesOf } from '../spellings/bytes.ts';
import type { TextKind } from '../spellings/text-kind.ts';

/**
 * Returns the text of the id of a request that a pattern matches, in one spelling: the canonical one if it matches, too,
 * otherwise the shortest that does. A client could else have any number of buckets, by spellings that a server
 * understands as one text, and we as many.
 *
 * @param text - In bytes.
 * @param pattern - For a text of which no spelling that matches is known.
 */
export function idText(
  kind: TextKind,
  text: string,
  { isMatch, pattern }: { readonly isMatch: (spelling: string) => boolean; readonly pattern: string },
): string {
  const canonical = kind.canonical(text);
  if (isMatch(bytesOf(canonical))) return canonical;
  const matching = kind.spellings(text).texts.filter((spelling) => isMatch(spelling));
  const [shortest] = matching.toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1));
  return shortest === undefined ? pattern : kind.shown(shortest);
}

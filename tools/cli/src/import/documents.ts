import { Buffer } from 'node:buffer';
import type { Content } from '@sluice/config/kit';

/** Real files have one to a few dozen. */
const MAX_DOCUMENTS = 1000;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

/** Matches a line of a document that has nothing but its beginning, its end or a comment. */
const EMPTY_LINE = /^(?:---|\.\.\.)?[ \t]*(?:#.*)?\r?$/;

/**
 * Returns the documents of a text of YAML, which `---` separates, without those that are empty. Each keeps its lines: all
 * that comes before it is empty lines.
 */
export function documentsOf(content: Content): readonly Content[] {
  if (!('bytes' in content)) return [content];
  // As latin1, so that what is not UTF-8 is found by the reader, at its place.
  const text = Buffer.from(content.bytes).toString('latin1');
  const parts = text.split(/^(?=---\s)/m);
  if (parts.length > MAX_DOCUMENTS)
    return [{ rejected: `The file must have at most ${MAX_DOCUMENTS} documents, but has ${parts.length}.` }];
  let line = 0;
  const documents = parts.flatMap((part) => {
    const before = line;
    const lines = part.replace(BYTE_ORDER_MARK, '').split('\n');
    line += lines.length - 1;
    if (lines.every((each) => EMPTY_LINE.test(each))) return [];
    return { bytes: Buffer.from('\n'.repeat(before) + part, 'latin1') };
  });
  return documents.length === 0 ? [content] : documents;
}

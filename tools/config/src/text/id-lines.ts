import type { Hash } from 'node:crypto';
import { shown } from '@sluice/core/kit';
import { BEGINNING, positionAt, type Position } from '../nodes/position.ts';
import type { Problems } from '../nodes/problems.ts';
import { checkUtf8, MAX_VALUE_LENGTH } from './utf8.ts';

/** How many bytes are split into lines at once: in about a millisecond. */
const PART_BYTES = 65_536;
const LINE_FEED = 0x0a;

/** Ids of a text, with the position of each. */
interface IdLines {
  readonly ids: string[];
  readonly places: Position[];
}

/**
 * Reads a text with one id a line, some thousand lines at a time. Blank lines, and lines that begin with `#`, are skipped.
 *
 * @param hash - Takes the bytes, behind their number: a line that moves from one file to the next is a change.
 */
export function* idLines(bytes: Uint8Array, hash: Hash, problems: Problems): Generator<IdLines> {
  if (!checkUtf8(bytes, problems)) return;
  hash.update(`${bytes.length}:`);
  let line = 1;
  let isEmpty = true;
  for (let start = 0; start < bytes.length;) {
    const end = endOfPart(bytes, start);
    const part = bytes.subarray(start, end);
    hash.update(part);
    const lines = new TextDecoder().decode(part).split('\n');
    isEmpty &&= lines.every((each) => each.trim() === '');
    yield idsOf(lines, line, problems);
    line += lines.length - 1;
    start = end;
  }
  if (isEmpty) problems.add(BEGINNING, 'The file is empty. Write one id a line, or a comment such as `# none`.');
}

/** A part ends behind a line. One that is longer than a part is a part of its own. */
function endOfPart(bytes: Uint8Array, start: number): number {
  const end = start + PART_BYTES;
  if (end >= bytes.length) return bytes.length;
  const last = bytes.lastIndexOf(LINE_FEED, end - 1);
  const next = last >= start ? last : bytes.indexOf(LINE_FEED, end);
  return next < 0 ? bytes.length : next + 1;
}

function idsOf(lines: readonly string[], first: number, problems: Problems): IdLines {
  const found: IdLines = { ids: [], places: [] };
  for (const [i, line] of lines.entries()) {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    const at = positionAt(first + i, line.indexOf(text) + 1);
    const problem = problemOf(text);
    if (problem === undefined) {
      found.ids.push(text);
      found.places.push(at);
    } else problems.add(at, problem);
  }
  return found;
}

function problemOf(text: string): string | undefined {
  if (text.length > MAX_VALUE_LENGTH) {
    return `This line is too long: at most ${MAX_VALUE_LENGTH} characters are allowed. Write one id a line.`;
  }
  if (text.includes('\0')) return `The id ${shown(text)} has a NUL character. Save the file as UTF-8.`;
  const comment = text.search(/\s#/);
  if (comment < 0) return undefined;
  return `A comment follows the id ${shown(text.slice(0, comment).trim())}. Write it on a line of its own.`;
}

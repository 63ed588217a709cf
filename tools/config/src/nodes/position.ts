/**
 * A position: line and column of a text, packed into one number because a hundred thousand of them are kept; or the
 * path of a value in data, such as `[3].NewOrders.ids[7]`.
 */
export type Position = number | string;

/** More columns than a text can have: texts are at most 64 MiB. */
const COLUMNS = 2 ** 26 + 2;

/** Line 1, column 1. */
export const BEGINNING: Position = COLUMNS + 1;

/** Packs a line and a column, both counted from 1. Columns are UTF-16 code units, as in most editors. */
export function positionAt(line: number, column: number): Position {
  return line * COLUMNS + column;
}

/** Unpacks the line and the column of a position in a text. */
export function lineAndColumn(position: number): { readonly line: number; readonly column: number } {
  return { line: Math.floor(position / COLUMNS), column: position % COLUMNS };
}

/** Formats a position for a message: `12:3`, or the path, which is `''` for the root of data. */
export function shownPosition(position: Position): string {
  if (typeof position === 'string') return position;
  const { line, column } = lineAndColumn(position);
  return `${line}:${column}`;
}

const LINE_FEED = 0x0a;

/** Finds line and column of offsets in a text. */
export class LineIndex {
  /**
   * The offset of each line. In a plain array, 15 MB of line feeds would take a quarter of a parsing thread's memory.
   */
  readonly #starts: Uint32Array;

  constructor(text: string) {
    let lines = 1;
    for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === LINE_FEED) lines++;
    const starts = (this.#starts = new Uint32Array(lines));
    for (let at = 0, line = 1; line < lines; at++) if (text.charCodeAt(at) === LINE_FEED) starts[line++] = at + 1;
  }

  /** Returns the position of an offset, which counts UTF-16 code units. */
  positionOf(offset: number): Position {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return positionAt(low + 1, offset - this.#starts[low]! + 1);
  }
}

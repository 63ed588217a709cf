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

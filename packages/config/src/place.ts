/**
 * Where something stands: line and column of a text packed into one number, as a hundred thousand of them are kept, or
 * the path of a value in data, such as `[3].NewOrders.ids[7]`.
 */
export type Place = number | string;

/** More columns than any text may have: texts are at most 64 MiB. */
const COLUMNS = 2 ** 26 + 2;

/** Where a text begins. */
export const BEGINNING: Place = COLUMNS + 1;

/** Lines and columns count from 1; columns are UTF-16 code units, as editors count them. */
export function placeAt(line: number, column: number): Place {
  return line * COLUMNS + column;
}

/** The line and the column of a place in a text. */
export function lineAndColumn(place: number): { readonly line: number; readonly column: number } {
  return { line: Math.floor(place / COLUMNS), column: place % COLUMNS };
}

/** A place as a message shows it: `12:3`, or the path; of all data nothing. */
export function shownPlace(place: Place): string {
  if (typeof place === 'string') return place;
  const { line, column } = lineAndColumn(place);
  return `${line}:${column}`;
}

/** The room that the mark of one request takes, in pixels. */
export const MARK = 8;

/** Where a request is drawn: from its arrival to the moment when it continues. */
export interface Place {
  readonly from: number;
  readonly to: number;
  /** From the top. */
  readonly row: number;
}

/**
 * Places requests, in the order of their arrival, in rows: none covers another. Where all rows are taken, a request is
 * drawn further right than its time, beside those that arrived with it.
 *
 * @param rows - The most rows.
 */
export function placesOf(spans: readonly { readonly from: number; readonly to: number }[], rows: number): Place[] {
  const ends: number[] = [];
  return spans.map(({ from, to }) => {
    const row = rowFor(from, ends, rows);
    const at = Math.max(from, ends[row] ?? from);
    const end = Math.max(at, to);
    ends[row] = end + MARK;
    return { from: at, to: end, row };
  });
}

/** The first row that is free at a place, or else the one that is free first. */
function rowFor(from: number, ends: readonly number[], rows: number): number {
  const free = ends.findIndex((end) => end <= from);
  if (free !== -1) return free;
  return ends.length < rows ? ends.length : ends.indexOf(Math.min(...ends));
}

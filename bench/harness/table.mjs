/**
 * @typedef {import('./part.ts').Table} Table
 * @typedef {import('./statistics.mjs').Spread} Spread
 */

/** @param {Table} table */
export function tableText({ title, rows, notes = [] }) {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => padded(cell, widths[column] ?? 0, column)).join('  '));
  const rule = widths.map((width) => '─'.repeat(width)).join('──');
  return ['', title, lines[0], rule, ...lines.slice(1), ...notes.map((note) => `  ${note}`), ''].join('\n');
}

/**
 * @param {string} cell
 * @param {number} width
 * @param {number} column
 */
function padded(cell, width, column) {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

/**
 * A median, and how far the rounds lie apart.
 *
 * @param {Spread | undefined} spread
 * @param {(value: number) => string} format
 */
export function withSpread(spread, format) {
  if (spread === undefined) return '–';
  const { median, min, max } = spread;
  return min === max ? format(median) : `${format(median)} (${format(min)}–${format(max)})`;
}

/** @param {number} value */
export const times = (value) => `${value.toFixed(2)}×`;

/** @param {number} value */
export const whole = (value) => Math.round(value).toLocaleString('en-GB');

/** @param {number} value */
export const tenths = (value) => value.toFixed(1);

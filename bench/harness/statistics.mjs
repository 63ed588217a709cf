/**
 * @param {readonly number[]} values At least one.
 * @returns {number}
 */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = /** @type {number} */ (sorted[middle]);
  return sorted.length % 2 === 1 ? upper : (upper + /** @type {number} */ (sorted[middle - 1])) / 2;
}

/**
 * A figure over all rounds.
 *
 * @typedef {object} Spread
 * @property {number} median
 * @property {number} min
 * @property {number} max
 */

/**
 * @param {readonly number[]} values At least one.
 * @returns {Spread}
 */
export function spreadOf(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

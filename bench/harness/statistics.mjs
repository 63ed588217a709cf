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
 * A figure over all turns of all rounds, and how far the rounds lie apart.
 *
 * @typedef {object} Spread
 * @property {number} median Of all turns.
 * @property {number} min The lowest median of a round.
 * @property {number} max The highest median of a round.
 */

/**
 * @param {readonly (readonly number[])[]} rounds Of each its turns. At least one of both.
 * @returns {Spread}
 */
export function spreadOf(rounds) {
  const medians = rounds.map(median);
  return { median: median(rounds.flat()), min: Math.min(...medians), max: Math.max(...medians) };
}

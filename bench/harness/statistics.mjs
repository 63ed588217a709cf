/**
 * The value below which a share of the others lies, interpolated between the two that are next to it.
 *
 * @param {readonly number[]} values At least one.
 * @param {number} share
 * @returns {number}
 */
function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [lower = NaN, upper = lower] = sorted.slice(Math.floor(place));
  return lower + (place % 1) * (upper - lower);
}

/** @param {readonly number[]} values At least one. */
const median = (values) => quantile(values, 0.5);

/**
 * @typedef {{ low: number, median: number, high: number, of: number }} Quartiles `of` so many values.
 * @param {readonly number[]} values At least one.
 * @returns {Quartiles}
 */
export function quartilesOf(values) {
  return { low: quantile(values, 0.25), median: median(values), high: quantile(values, 0.75), of: values.length };
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

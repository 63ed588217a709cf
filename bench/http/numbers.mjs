/**
 * What is limited to: so much that nobody is denied, or so little that everyone is but the first.
 *
 * @typedef {object} Numbers
 * @property {number} count
 * @property {number} periodMs
 */

/** @type {Readonly<Record<string, Numbers>>} */
export const NUMBERS = {
  allowed: { count: 100_000_000, periodMs: 86_400_000 },
  denied: { count: 1, periodMs: 3_600_000 },
};

/**
 * Takes slots. A limiter from before the option `hold`, as `--beside` may measure, has calls of that name.
 *
 * @param {any} limiter
 * @param {readonly object[]} entries
 * @returns {Promise<import('@sluice/core').Decision>}
 */
export async function hold(limiter, entries) {
  return 'hold' in limiter ? limiter.hold(entries) : limiter.spend(entries, { hold: true });
}

/**
 * The same at once.
 *
 * @param {any} limiter
 * @param {readonly object[]} entries
 * @returns {import('@sluice/core').Decision}
 */
export function holdSync(limiter, entries) {
  return 'holdSync' in limiter ? limiter.holdSync(entries) : limiter.spendSync(entries, { hold: true });
}

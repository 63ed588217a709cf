// Shared by the scripts that print or draw what a real limiter decides on a clock that is moved by hand.

/**
 * @typedef {typeof import('../packages/core/src/index.ts')
 *   & Pick<typeof import('../packages/core/src/testing/index.ts'), 'FakeTime'>} Core
 */

/**
 * With the kinds of limits that are drawn.
 *
 * @typedef {Core
 *   & Pick<typeof import('../packages/core/src/borrow.ts'), 'borrow'>
 *   & Pick<typeof import('../packages/core/src/load.ts'), 'load' | 'loadFrom'>
 *   & Pick<typeof import('../packages/core/src/quota.ts'), 'quota'>} CoreWithKinds
 */

/** The built core, and its clock for tests. @returns {Promise<CoreWithKinds>} */
export async function builtCore() {
  const core = await import('../packages/core/dist/index.js');
  const { FakeTime } = await import('../packages/core/dist/testing.js');
  const { borrow } = await import('../packages/core/dist/borrow.js');
  const { load, loadFrom } = await import('../packages/core/dist/load.js');
  const { quota } = await import('../packages/core/dist/quota.js');
  // To the compiler the classes of the build are not those of the sources.
  return /** @type {CoreWithKinds} */ (/** @type {unknown} */ ({ ...core, FakeTime, borrow, load, loadFrom, quota }));
}

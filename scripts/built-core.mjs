// Shared by the scripts that print or draw what a real limiter decides on a clock that is moved by hand.

/**
 * @typedef {typeof import('../packages/core/src/index.ts')
 *   & Pick<typeof import('../packages/core/src/testing/index.ts'), 'FakeTime'>} Core
 */

/** The built core, and its clock for tests. @returns {Promise<Core>} */
export async function builtCore() {
  const core = await import('../packages/core/dist/index.js');
  const { FakeTime } = await import('../packages/core/dist/testing.js');
  // To the compiler the classes of the build are not those of the sources.
  return /** @type {Core} */ (/** @type {unknown} */ ({ ...core, FakeTime }));
}

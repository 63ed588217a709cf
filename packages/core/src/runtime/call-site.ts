/** Files of this family of packages: installed, and in a clone. */
const OURS = /[\\/]@sluice[\\/]|[\\/]packages[\\/][a-z]+[\\/](?:src|dist)[\\/]/;

/**
 * Returns where the program called a function of ours, for messages: `at /srv/limits.js:12:24`. In a bundle, and where a
 * runtime has no stack traces, it may be less exact.
 *
 * @param called - The function. What it called is left out.
 */
export function callSiteOf(called: (...args: never[]) => unknown): string {
  const trace: { readonly stack?: unknown } = {};
  // Firefox has none.
  (Error as Partial<typeof Error>).captureStackTrace?.(trace, called);
  const lines = typeof trace.stack === 'string' ? trace.stack.split('\n') : [];
  const frames = lines.flatMap((line) => /^\s*at (?:.*? \()?(.*?)\)?$/.exec(line)?.[1] ?? []);
  const place = frames.find((frame) => !OURS.test(frame)) ?? frames[0];
  return `at ${place ?? 'an unknown place'}`;
}

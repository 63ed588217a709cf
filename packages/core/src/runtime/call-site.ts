/** Files of this family of packages: installed, and in a clone. */
const OURS = /[\\/]@sluice[\\/]|[\\/]packages[\\/][a-z]+[\\/](?:src|dist)[\\/]/;

/**
 * Returns where the program called a function of ours, for messages: `at /srv/limits.js:12:24`. In a bundle, and where a
 * runtime has no stack traces, it may be less exact.
 *
 * @param called - The function. What it called is left out.
 */
export function callSiteOf(called: (...args: never[]) => unknown): string {
  return callSiteIn(traceOf(called));
}

/** Where a function was called. Its text is made when it is read, which costs more than the rest. */
export interface Trace {
  readonly stack?: unknown;
}

/** Notes where the program called a function of ours, for {@link callSiteIn}. */
export function traceOf(called: (...args: never[]) => unknown): Trace {
  const trace: Trace = {};
  // Firefox has none.
  (Error as Partial<typeof Error>).captureStackTrace?.(trace, called);
  return trace;
}

/** As {@link callSiteOf}. */
export function callSiteIn({ stack }: Trace): string {
  const lines = typeof stack === 'string' ? stack.split('\n') : [];
  const frames = lines.flatMap((line) => /^\s*at (?:.*? \()?(.*?)\)?$/.exec(line)?.[1] ?? []);
  const place = frames.find((frame) => !OURS.test(frame)) ?? frames[0];
  return `at ${place ?? 'an unknown place'}`;
}

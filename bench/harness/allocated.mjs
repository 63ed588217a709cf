/**
 * Options of Node with which calls allocate as much in each process, but for a few per cent: compiled code leaves some
 * objects out, and a garbage collection would be counted.
 */
export const UNCOMPILED = [
  '--jitless',
  '--no-lazy-feedback-allocation',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
];

/**
 * The bytes of V8's heap that each of many calls allocates, in a process with {@link UNCOMPILED}.
 *
 * @param {() => unknown} work Makes the calls, whose garbage must be less than 60 MB.
 * @param {number} calls
 */
export async function allocatedBytes(work, calls) {
  await work();
  let least = Infinity;
  for (let times = 0; times < 3; times++) {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    // oxlint-disable-next-line no-await-in-loop
    await work();
    least = Math.min(least, process.memoryUsage().heapUsed - before);
  }
  return Math.round(least / calls);
}

/** Default of `syncEvery`. */
export const SYNC_EVERY_MS = 200;
/** Default of `maxWait`. */
export const MAX_WAIT_MS = 50;

/** The largest jitter, as a part of the time between syncs, so that processes do not sync in step. */
const MAX_JITTER = 1 / 8;

/**
 * Returns the factor by which a process multiplies the time between syncs.
 *
 * @param random - From 0 to 1, different in each process.
 */
export function paceOf(random: number): number {
  return 1 - MAX_JITTER * random;
}

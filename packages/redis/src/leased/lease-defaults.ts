/** Default of `syncEvery`. */
export const SYNC_EVERY_MS = 200;
/** Default of `maxWait`. */
export const MAX_WAIT_MS = 50;

/** How much shorter the time between syncs is at most, so that no two processes keep the same one. */
const PACES = 1 / 8;

/** The part of the time between syncs that a process uses, by a number from 0 to 1 of its own. */
export function paceOf(own: number): number {
  return 1 - PACES * own;
}

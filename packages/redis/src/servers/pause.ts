/**
 * The longest pause between two attempts to connect, in milliseconds. It bounds the time until a recovery is noticed.
 */
const MAX_PAUSE_MS = 200;

/** Returns the pause after an attempt to connect has failed, in milliseconds. The first attempt has the number 1. */
export function pauseMs(attempt: number): number {
  return Math.min(50 * attempt, MAX_PAUSE_MS);
}

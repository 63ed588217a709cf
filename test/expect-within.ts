import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { realDelay } from './real-delay.ts';

const EVERY_MS = 50;

/**
 * Expects that a value becomes another one within a time. It counts timers of 50 ms and not the clock: a stall of this
 * process delays them as it delays the timers of the server in it, and so is not counted.
 */
export async function expectWithin(ms: number, read: () => unknown, expected: unknown): Promise<void> {
  for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += EVERY_MS) {
    // oxlint-disable-next-line no-await-in-loop -- one look after the other
    if (isDeepStrictEqual(await read(), expected)) return;
    // oxlint-disable-next-line no-await-in-loop
    await realDelay(EVERY_MS);
  }
  expect(await read()).toEqual(expected);
}

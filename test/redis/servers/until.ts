import { realDelay } from '../../real-delay.ts';

/**
 * Waits until something is true, asking every few milliseconds; after `withinMs` it is an error. That is long enough for a
 * machine that does twenty times as much besides: what takes longer has come to a halt.
 */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  { withinMs = 60_000, everyMs = 20 } = {},
): Promise<void> {
  const endMs = performance.now() + withinMs;
  // oxlint-disable-next-line no-await-in-loop -- one question after the other
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`Within ${withinMs} ms it did not come true that ${what}.`);
    // oxlint-disable-next-line no-await-in-loop
    await realDelay(everyMs);
  }
}

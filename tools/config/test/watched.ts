import { createLimiter, type Limiter } from '@sluice/core';
import { loadLimits, watchLimits, type LimitFilesEvent, type LimitSource, type WatchOptions } from '@sluice/config';
import type { FakeTime } from '@sluice/core/testing';
import { expect, onTestFinished, vi } from 'vitest';
import { CountedTime } from '../../../packages/core/test/support/counted-time.ts';
import { KEYS, LIMITS } from './written-files.ts';

export const LIMIT = 'NewOrdersPerAccount';

interface Sources {
  readonly defaults: LimitSource;
  readonly overrides?: LimitSource;
}

/** Creates a limiter whose limits are watched, with a time that moves only when the test moves it. */
export async function watched(sources: Sources, options: WatchOptions = {}, keys = KEYS) {
  const loaded = await loadLimits({ ...sources, keys });
  const time = new CountedTime();
  const limiter = createLimiter({ ...loaded, time, log: false });
  const lines: string[] = [];
  const events: LimitFilesEvent[] = [];
  const live = watchLimits(limiter, loaded, {
    log: (line) => lines.push(line),
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => live.close());
  return { loaded, limiter, live, time, lines, events };
}

export async function countOf(limiter: Limiter, id = '1'): Promise<number | undefined> {
  return (await limiter.check([{ limit: LIMIT, id }])).results[0]?.count;
}

export const withCount = (count: number): string =>
  LIMITS.replace('burst: 300, count: 300', `burst: 300, count: ${count}`);

/**
 * Lets time pass until a condition is true. In between the event loop runs, in which the real file system answers: that
 * takes as many turns as it takes.
 */
export async function passUntil(time: FakeTime, isTrue: () => unknown): Promise<void> {
  const giveUpMs = performance.now() + 20_000;
  while (!(await isTrue())) {
    if (performance.now() > giveUpMs) throw new Error(`It did not come true that ${String(isTrue)}.`);
    // oxlint-disable-next-line no-await-in-loop -- one step after the other
    await time.pass(50);
  }
}

/** Waits for the real file system, after whose answer the next timer is set. The time does not move. */
export async function nextAlarm(time: CountedTime): Promise<void> {
  const { alarms } = time;
  await vi.waitFor(() => expect(time.alarms).toBeGreaterThan(alarms), { timeout: 20_000, interval: 1 });
}

/** Lets time pass until a limit has another count. */
export async function becomes({ limiter, time }: { limiter: Limiter; time: FakeTime }, count: number): Promise<true> {
  await passUntil(time, async () => (await countOf(limiter)) === count);
  return true;
}

import { createLimiter, type Limiter } from '@sluice/core';
import { loadLimits, watchLimits, type LimitFilesEvent, type LimitSource, type WatchOptions } from '@sluice/config';
import { expect, onTestFinished, vi } from 'vitest';
import { KEYS, LIMITS } from './written-files.ts';

export const LIMIT = 'NewOrdersPerAccount';

interface Sources {
  readonly defaults: LimitSource;
  readonly overrides?: LimitSource;
}

/** Creates a limiter whose limits are watched. */
export async function watched(sources: Sources, options: WatchOptions = {}, keys = KEYS) {
  const loaded = await loadLimits({ ...sources, keys });
  const limiter = createLimiter({ ...loaded });
  const lines: string[] = [];
  const events: LimitFilesEvent[] = [];
  const live = watchLimits(limiter, loaded, {
    log: (line) => lines.push(line),
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => live.close());
  return { loaded, limiter, live, lines, events };
}

export async function countOf(limiter: Limiter, id = '1'): Promise<number | undefined> {
  return (await limiter.check([{ limit: LIMIT, id }])).results[0]?.count;
}

export const withCount = (count: number): string =>
  LIMITS.replace('burst: 300, count: 300', `burst: 300, count: ${count}`);

export async function becomes(limiter: Limiter, count: number): Promise<boolean> {
  await vi.waitFor(async () => expect(await countOf(limiter)).toBe(count), { timeout: 20_000, interval: 20 });
  return true;
}

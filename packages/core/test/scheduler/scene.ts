import { accountId, createLimiter, everyone, type LimiterOptions, type SpendEntry } from '@sluice/core';
import { concurrency } from '@sluice/core/concurrency';
import { createScheduler, type SchedulerOptions, type ScheduleOptions } from '@sluice/core/scheduler';
import { FakeTime } from '@sluice/core/testing';

export const key = everyone();
export const id = 'everyone';
export const LIMITS = {
  Api: { key, burst: 1, count: 10, period: '1s' },
  Other: { key, burst: 1, count: 10, period: '1s' },
  Busy: concurrency({ key, concurrency: 2 }),
  PerUser: { key: accountId(), count: 1, period: '1s' },
} as const;
export type Name = keyof typeof LIMITS;

export const on = (...limits: Name[]): readonly SpendEntry<Name>[] => limits.map((limit) => ({ limit, id }));

/** A limiter and a scheduler on a time of their own. */
export function scene(options: SchedulerOptions = {}, more: Partial<LimiterOptions> = {}, time = new FakeTime()) {
  const limiter = createLimiter({ limits: LIMITS, time, log: false, ...more });
  const scheduler = createScheduler(limiter, options);
  const starts: [name: string, atMs: number][] = [];
  /** Schedules work that notes when it begins, and lasts for a time. */
  const run = (name: string, entries: readonly SpendEntry<Name>[], given?: ScheduleOptions<void>, lastsMs = 0) =>
    scheduler.run(
      entries,
      () => {
        starts.push([name, time.nowMs]);
        return lastsMs === 0 ? undefined : new Promise<void>((end) => void time.alarm(lastsMs, end));
      },
      given,
    );
  const names = (): readonly string[] => starts.map(([name]) => name);
  return { time, limiter, scheduler, starts, run, names };
}

/** Promises whose errors a test does not look at. */
export function quiet(...calls: Promise<unknown>[]): void {
  for (const call of calls) call.catch(() => undefined);
}

/** The calls of one limit that a scheduler orders. */
export interface ScheduledCount {
  readonly waiting: number;
  /** How long the oldest of those that wait has waited, in milliseconds. */
  readonly longestMs: number;
  /** Begun, and not ended. */
  readonly running: number;
}

/** What a limiter knows of a scheduler. */
export interface ScheduledCalls {
  /** By the name of the limit. A call with several limits counts at each. */
  scheduled(): ReadonlyMap<string, ScheduledCount>;
}

/** Adds up the calls of several schedulers. */
export function scheduledBy(schedulers: Iterable<ScheduledCalls>): ReadonlyMap<string, ScheduledCount> {
  const all = new Map<string, ScheduledCount>();
  for (const scheduler of schedulers)
    for (const [limit, { waiting, longestMs, running }] of scheduler.scheduled()) {
      const sum = all.get(limit) ?? { waiting: 0, longestMs: 0, running: 0 };
      all.set(limit, {
        waiting: sum.waiting + waiting,
        longestMs: Math.max(sum.longestMs, longestMs),
        running: sum.running + running,
      });
    }
  return all;
}

import type { ScheduledCount } from '../limiter/scheduled-calls.ts';
import type { CallLane } from './scheduled-call.ts';

/** Counts the calls of lanes by limit, for metrics. */
export function scheduledIn(lanes: Iterable<CallLane>, nowMicros: number): ReadonlyMap<string, ScheduledCount> {
  const counts = new Map<string, ScheduledCount>();
  for (const lane of lanes) {
    const { waiting, running, buckets, oldest } = lane;
    const waitedMs = oldest === undefined ? 0 : (nowMicros - oldest.cameMicros) / 1000;
    for (const limit of new Set(buckets.map(limitOf))) {
      const sum = counts.get(limit) ?? { waiting: 0, longestMs: 0, running: 0 };
      counts.set(limit, {
        waiting: sum.waiting + waiting,
        longestMs: Math.max(sum.longestMs, waitedMs),
        running: sum.running + running,
      });
    }
  }
  return counts;
}

/** The name of a limit contains no colon. */
function limitOf(bucket: string): string {
  return bucket.slice(0, bucket.indexOf(':'));
}

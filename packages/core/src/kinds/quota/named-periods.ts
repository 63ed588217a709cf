import { calendarNamed } from '../../calendar/calendar.ts';
import { TICKS_PER_MS } from '../../rule/ticks.ts';
import type { PeriodicBucket, PeriodLeft } from '../../store/provided.ts';
import type { StoreReading } from '../../store/store.ts';

/** Returns the running period of a bucket of a reading. */
export function periodLeft({ calendar, period }: PeriodicBucket, reading: StoreReading, index: number): PeriodLeft {
  const wallMs = reading.bucketWallMs![index]!;
  // The call of the store may have been repeated with another period.
  const isNamed = period !== undefined && wallMs >= period[0] && wallMs < period[2];
  const ends = isNamed ? period : calendarNamed(calendar!).periodAt(wallMs);
  const first = wallMs < ends[1] ? 0 : 1;
  const endMs = ends[first + 1]!;
  return { startMs: ends[first], endMs, leftTicks: (endMs - wallMs) * TICKS_PER_MS };
}

/** Returns a bucket with the period that is current at a time, which is computed from the name of its calendar. */
export function renewed<Bucket extends PeriodicBucket>(bucket: Bucket, wallMs: number): Bucket {
  const { calendar } = bucket;
  return calendar === undefined ? bucket : { ...bucket, period: calendarNamed(calendar).periodAt(wallMs) };
}

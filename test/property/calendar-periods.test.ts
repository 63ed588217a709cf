import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { anchorOf } from '../../packages/core/src/calendar/anchor.ts';
import {
  Calendar,
  CALENDAR_UNITS,
  MOST_TOKENS_PER,
  type PeriodEnds,
} from '../../packages/core/src/calendar/calendar.ts';
import { RUNS } from './runs.ts';

const FIXED_MS = { second: 1000, minute: 60_000, hour: 3_600_000 };
const NOW = Date.UTC(2026, 0, 1);
const [FROM, TO] = [Date.UTC(1970, 0, 3), Date.UTC(2100, 0, 1)];
const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];

const instants = fc.integer({ min: FROM, max: TO });
const scenes = fc.record({
  unit: fc.constantFrom(...CALENDAR_UNITS),
  timeZone: fc.constantFrom(...zones),
  anchor: fc.oneof(
    fc.constant(undefined),
    fc.integer({ min: FROM, max: TO }).map((ms) => new Date(ms).toISOString().slice(0, 10)),
    instants.map((ms) => new Date(ms)),
  ),
  /** Any instant, or the one before, at or after a change of the clock that follows it. */
  at: instants,
  change: fc.constantFrom('any', 'before', 'at', 'after', 'day before', 'day after'),
});

test('a period is that of a calendar counted by Temporal, and has room for its tokens, in any zone, on any day, from any anchor', () => {
  fc.assert(
    fc.property(scenes, ({ unit, timeZone, anchor, at, change }) => {
      const wallMs = change === 'any' ? at : nearChange(timeZone, at, change);
      const calendar = new Calendar(unit, anchorOf(unit, timeZone, anchor, { option: 'anchor' }), timeZone);
      const expected =
        unit === 'hour' || unit === 'minute' || unit === 'second'
          ? fixedAt(FIXED_MS[unit], timeZone, anchor, wallMs)
          : periodAt(unit, timeZone, anchor, wallMs);
      expect(calendar.periodAt(wallMs)).toEqual(expected);
      // Before, some zones have set their clocks by half a day.
      if (wallMs > NOW) expectRoom(calendar.periodAt(wallMs), MOST_TOKENS_PER[unit]);
      // Also after a time in another period.
      expect(calendar.periodAt(calendar.periodAt(wallMs)[1])[0]).toBe(expected[1]);
    }),
    { numRuns: RUNS },
  );
});

/** Tokens are never taken for those of the next period, or for an error of the clock, in steps as few as a store may have. */
function expectRoom([start, end, nextEnd]: PeriodEnds, most: number): void {
  const [length, next] = [2000 * (end - start), 2000 * (nextEnd - end)];
  for (const span of [length, next]) {
    expect(most).toBeLessThanOrEqual(0.75 * span);
    expect(next).toBeGreaterThanOrEqual(0.75 * span);
    expect(next + most).toBeLessThanOrEqual(1.75 * span);
  }
}

function nearChange(timeZone: string, at: number, change: string): number {
  const next = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).getTimeZoneTransition('next');
  if (next === null || next.epochMilliseconds > TO) return at;
  const moved = { before: -1, at: 0, after: 1, 'day before': -23 * FIXED_MS.hour, 'day after': 23 * FIXED_MS.hour }[
    change
  ]!;
  return next.epochMilliseconds + moved;
}

/** The first instant at which the clock of a zone shows a time, or a later one if it skips it. */
function firstInstant(local: Temporal.PlainDateTime, timeZone: string): number {
  const earlier = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (earlier.toPlainDateTime().equals(local)) return earlier.epochMilliseconds;
  // The first time after the gap may be that of the change itself, which is not before it.
  const later = local.toZonedDateTime(timeZone, { disambiguation: 'later' }).add({ milliseconds: 1 });
  return later.getTimeZoneTransition('previous')!.epochMilliseconds;
}

function anchorDate(anchor: string | Date | undefined, timeZone: string): Temporal.PlainDateTime {
  if (anchor instanceof Date) {
    return Temporal.Instant.fromEpochMilliseconds(anchor.getTime()).toZonedDateTimeISO(timeZone).toPlainDateTime();
  }
  return Temporal.PlainDate.from(anchor ?? '2024-01-01').toPlainDateTime();
}

/** Counts from the anchor by adding months to it, so that it does not drift. */
function periodAt(
  unit: 'day' | 'week' | 'month' | 'year',
  timeZone: string,
  anchor: string | Date | undefined,
  wallMs: number,
): number[] {
  const first = anchorDate(anchor, timeZone);
  const local = Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO(timeZone).toPlainDateTime();
  const units = `${unit}s` as const;
  const near = Math.trunc(first.until(local, { largestUnit: units })[units]);
  const starts = new Set<number>();
  for (let i = near - 3; i <= near + 6; i++) starts.add(firstInstant(first.add({ [units]: i }), timeZone));
  const sorted = [...starts].toSorted((a, b) => a - b);
  const next = sorted.findIndex((start) => start > wallMs);
  return sorted.slice(next - 1, next + 2);
}

function fixedAt(lengthMs: number, timeZone: string, anchor: string | Date | undefined, wallMs: number): number[] {
  const first = anchor instanceof Date ? anchor.getTime() : firstInstant(anchorDate(anchor, timeZone), timeZone);
  const start = first + Math.floor((wallMs - first) / lengthMs) * lengthMs;
  return [start, start + lengthMs, start + 2 * lengthMs];
}

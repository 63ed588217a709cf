// The room calendar: the periods of quotas: days, months, time zones, anchors; pure functions.
import { timeZoneNamed, type TimeZone } from './time-zone.ts';

/** The periods of a calendar that a quota can have. */
export type CalendarUnit = (typeof CALENDAR_UNITS)[number];

/** All periods, the shortest first. */
export const CALENDAR_UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'] as const;

const DAY_MS = 86_400_000;

/** The units that always have the same length. Their periods are counted from a time after the beginning of 1970. */
const FIXED_MS: Readonly<Partial<Record<CalendarUnit, number>>> = { second: 1000, minute: 60_000, hour: 3_600_000 };

/** The largest quotas: a store counts tokens in steps of its clock, of which it has at least 2,000 in a millisecond. */
export const MOST_TOKENS_PER: Readonly<Record<CalendarUnit, number>> = {
  second: 1_000_000,
  minute: 60_000_000,
  hour: 3_600_000_000,
  day: 86_400_000_000,
  week: 604_800_000_000,
  month: 1_000_000_000_000,
  year: 1_000_000_000_000,
};

/** Returns the length of a unit whose periods all have the same; `undefined` for days and longer units. */
export function fixedLengthMs(unit: CalendarUnit): number | undefined {
  return FIXED_MS[unit];
}
/** 5 January 1970 was a Monday. */
const DAYS_BEFORE_MONDAY = 4;

/**
 * The day and time at which periods of a unit begin: the parts of a date that matter for the unit. Two dates with the
 * same anchor have the same periods.
 */
export interface Anchor {
  /** The weekday, 1 for Monday; the day of the month; for a year 100 × month + day; otherwise 0. */
  readonly day: number;
  /** The local time of the day in milliseconds; for an hour, a minute and a second, the time after a full one of UTC. */
  readonly timeMs: number;
}

/** The start of the current period, its end and the end of the next one, in milliseconds of Unix time. */
export type PeriodEnds = readonly [startMs: number, endMs: number, nextEndMs: number];

/**
 * The periods of one unit, in one time zone, from one anchor. Pure: it reads no clock.
 *
 * A period begins at the first instant at which the clock of the zone shows its local time. Each end is computed from
 * the anchor, never from another end, so it is the same number for every caller and never drifts. A day that a zone
 * skips has no period.
 *
 * Seconds, minutes and hours always have the same length, even when the clock changes.
 */
export class Calendar {
  /**
   * The definition as text: `month:31:0:Europe/Berlin`. Two calendars with the same name have the same periods.
   * {@link calendarNamed} is the reverse.
   */
  readonly name: string;
  readonly unit: CalendarUnit;
  readonly #anchor: Anchor;
  readonly #zone: TimeZone;
  readonly #fixedMs: number | undefined;
  /** The latest result. Almost all calls are for the same period. */
  #ends: PeriodEnds = [0, 0, 0];

  constructor(unit: CalendarUnit, anchor: Anchor, timeZone: string) {
    this.#fixedMs = fixedLengthMs(unit);
    // The hours of two zones are the same if they begin at the same minute.
    const zone = this.#fixedMs === undefined ? timeZone : 'UTC';
    this.name = `${unit}:${anchor.day}:${anchor.timeMs}:${zone}`;
    this.unit = unit;
    this.#anchor = anchor;
    this.#zone = timeZoneNamed(zone);
  }

  /** Returns the current period at a time, in milliseconds of Unix time: start ≤ time < end. */
  periodAt(wallMs: number): PeriodEnds {
    const ends = this.#ends;
    return wallMs >= ends[0] && wallMs < ends[1] ? ends : (this.#ends = this.#computed(wallMs));
  }

  #computed(wallMs: number): PeriodEnds {
    if (this.#fixedMs !== undefined) return this.#fixedAt(wallMs, this.#fixedMs);
    const index = this.#indexAt(this.#zone.localAt(wallMs));
    // A later period may have begun before the clock went back, and a skipped day begins together with the next one.
    const starts = [0, 1, 2, 3, 4, 5].map((later) => this.#zone.instantOf(this.#localStart(index + later)));
    const [start, end, nextEnd] = starts.filter((begin, i) => begin !== starts[i + 1] && starts[i + 1]! > wallMs);
    return [start!, end!, nextEnd!];
  }

  #fixedAt(wallMs: number, lengthMs: number): PeriodEnds {
    const { timeMs } = this.#anchor;
    const start = Math.floor((wallMs - timeMs) / lengthMs) * lengthMs + timeMs;
    return [start, start + lengthMs, start + 2 * lengthMs];
  }

  /** The number of the last period whose local start is not after a local time. */
  #indexAt(local: number): number {
    const { unit } = this;
    const days = Math.floor((local - this.#anchor.timeMs) / DAY_MS);
    if (unit === 'day') return days;
    if (unit === 'week') return Math.floor((days - this.#daysBeforeWeek) / 7);
    const date = new Date(local);
    const index = unit === 'year' ? date.getUTCFullYear() : date.getUTCFullYear() * 12 + date.getUTCMonth();
    return this.#localStart(index) <= local ? index : index - 1;
  }

  #localStart(index: number): number {
    const { unit } = this;
    const { day, timeMs } = this.#anchor;
    if (unit === 'day') return index * DAY_MS + timeMs;
    if (unit === 'week') return (index * 7 + this.#daysBeforeWeek) * DAY_MS + timeMs;
    if (unit === 'month') return lastOrDay(0, index, day) + timeMs;
    return lastOrDay(index, Math.floor(day / 100) - 1, day % 100) + timeMs;
  }

  get #daysBeforeWeek(): number {
    return DAYS_BEFORE_MONDAY + this.#anchor.day - 1;
  }
}

/**
 * The local start of a day of a month, or of the last day of the month if it has fewer days.
 *
 * @param month - From 0, also above 11.
 */
function lastOrDay(year: number, month: number, day: number): number {
  const last = new Date(utcOf(year, month + 1, 0)).getUTCDate();
  return utcOf(year, month, Math.min(day, last));
}

// `Date.UTC` reads a year below 100 as 19xx. Months are counted from the year 0, so their years are added first.
function utcOf(year: number, month: number, day: number): number {
  return Date.UTC(year + Math.floor(month / 12), ((month % 12) + 12) % 12, day);
}

/** At most this many calendars are cached. A limit with an anchor for each id may have one for each of them. */
const MAX_CALENDARS = 10_000;

const calendars = new Map<string, Calendar>();

/**
 * Returns the calendar with a name.
 *
 * @param name - The name of a {@link Calendar}.
 */
export function calendarNamed(name: string): Calendar {
  return calendars.get(name) ?? kept(calendarOf(name));
}

function calendarOf(name: string): Calendar {
  const [unit, day, timeMs, ...zone] = name.split(':');
  return new Calendar(unit as CalendarUnit, { day: Number(day), timeMs: Number(timeMs) }, zone.join(':'));
}

function kept(calendar: Calendar): Calendar {
  if (calendars.size >= MAX_CALENDARS) calendars.clear();
  calendars.set(calendar.name, calendar);
  return calendar;
}

import { anchorOf } from '../../calendar/anchor.ts';
import {
  Calendar,
  calendarNamed,
  CALENDAR_UNITS,
  MOST_TOKENS_PER,
  type CalendarUnit,
} from '../../calendar/calendar.ts';
import { checkTimeZone, timeZoneNamed, type TimeZone } from '../../calendar/time-zone.ts';
import { reasonOf, SluiceError } from '../../checks/errors.ts';
import { isPlainObject, oneOf } from '../../checks/options.ts';
import { systemTime } from '../../time/system-time.ts';
import type { DefinedLimit } from '../../limits/defined-limit.ts';
import type { NamedPeriods, Periods } from '../../limits/periods.ts';
import type { CalendarPeriod } from '../../store/calendar-period.ts';
import { StoreCalls } from '../../store/store-calls.ts';
import { StalePeriods } from './stale-periods.ts';
import type { StoreWall } from './store-wall.ts';

/**
 * A day from which the periods of a quota are counted: a date in the time zone of the quota, such as `'2026-01-31'`, or
 * an instant, whose local day and time count.
 */
export type AnchorDate = string | Date;

/** The calendar of a limit, by the wall clock of the store. */
export class LimitCalendar implements Periods {
  readonly unit: CalendarUnit;
  readonly mostTokens: number;
  readonly name: string;
  readonly #wall: StoreWall;
  readonly #zone: TimeZone;
  /** The calendar of all ids, or a function that returns that of an id. */
  readonly #calendar: Calendar | ((id: string) => Calendar);

  constructor(
    { name, unit, timeZone }: Pick<Periods, 'name' | 'unit'> & { readonly timeZone: string },
    calendar: Calendar | ((id: string) => Calendar),
    wall: StoreWall,
  ) {
    this.name = name;
    this.unit = unit;
    this.#zone = timeZoneNamed(timeZone);
    this.mostTokens = MOST_TOKENS_PER[unit];
    this.#wall = wall;
    this.#calendar = calendar;
  }

  of(id: string): Calendar {
    return typeof this.#calendar === 'function' ? this.#calendar(id) : this.#calendar;
  }

  instantOf(local: number): number {
    return this.#zone.instantOf(local);
  }

  forStore(calendar: NamedPeriods): CalendarPeriod {
    return calendar.periodAt(this.#wall.latest());
  }

  running(calendar: NamedPeriods): CalendarPeriod {
    return calendar.periodAt(this.#wall.now());
  }
}

/** The options of a quota that make its calendar. */
interface CalendarOptions {
  readonly per: CalendarUnit;
  readonly timeZone?: string | undefined;
  readonly anchor?: AnchorDate | ((id: string) => AnchorDate) | undefined;
}

/**
 * Validates the calendar of a quota.
 *
 * @throws {SluiceError} `ERR_OPTION` for a wrong option.
 */
export function limitCalendarOf(
  options: CalendarOptions,
  { where, name, calls = new StoreCalls(systemTime, false) }: DefinedLimit,
): LimitCalendar {
  const unit = oneOf(`${where}.per`, options.per, CALENDAR_UNITS);
  const timeZone = options.timeZone === undefined ? 'UTC' : checkTimeZone(`${where}.timeZone`, options.timeZone);
  const { anchor } = options;
  const calendar =
    typeof anchor === 'function'
      ? anchoredBy(anchor, { unit, timeZone, limit: name })
      : new Calendar(unit, anchorOf(unit, timeZone, anchor, { option: `${where}.anchor` }), timeZone);
  const shared = typeof calendar === 'function' ? `${unit} ${timeZone}` : calendar.name;
  // The first quota of a limiter makes it, for all of them.
  calls.periods ??= new StalePeriods(calls);
  const named = { name: shared, unit, timeZone };
  return new LimitCalendar(named, calendar, (calls.periods as StalePeriods).wall);
}

/** At most this many dates are remembered with their calendars. */
const MAX_DATES = 10_000;

interface Anchored {
  readonly unit: CalendarUnit;
  readonly timeZone: string;
  readonly limit: string;
}

/** Returns a function that finds the calendar of an id. Each date is converted once. */
function anchoredBy(ask: (id: string) => AnchorDate, { unit, timeZone, limit }: Anchored): (id: string) => Calendar {
  const known = new Map<string | number, Calendar>();
  return (id) => {
    const date = askedDate(ask, id, limit);
    const key = date instanceof Date ? date.getTime() : date;
    const calendar = known.get(key);
    if (calendar !== undefined) return calendar;
    const anchor = anchorOf(unit, timeZone, checkedDate(date, limit), { option: 'anchor', limit });
    if (known.size >= MAX_DATES) known.clear();
    const found = calendarNamed(new Calendar(unit, anchor, timeZone).name);
    known.set(key, found);
    return found;
  };
}

function askedDate(ask: (id: string) => AnchorDate, id: string, limit: string): AnchorDate {
  try {
    return ask(id);
  } catch (cause) {
    const message = `The function \`anchor\` of limit "${limit}" threw (${reasonOf(cause)}). Return a date for every id, such as '2026-01-31'.`;
    throw new SluiceError('ERR_OPTION', message, { cause });
  }
}

/** A function that forgot its `return` must not mean the default. */
function checkedDate(date: unknown, limit: string): unknown {
  if (!isPlainObject(date) || typeof date['then'] !== 'function') return date ?? null;
  const message =
    `The function \`anchor\` of limit "${limit}" must return a date, but returned a promise. ` +
    'Read the dates beforehand, for example into a Map.';
  // Avoids an unhandled rejection: this error replaces the answer.
  Promise.resolve(date).catch(() => undefined);
  throw new SluiceError('ERR_OPTION', message);
}

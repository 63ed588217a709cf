import { anchorOf } from '../calendar/anchor.ts';
import { Calendar, calendarNamed, CALENDAR_UNITS, type CalendarUnit, type PeriodEnds } from '../calendar/calendar.ts';
import { checkTimeZone } from '../calendar/time-zone.ts';
import { complaint, reasonOf, SluiceError } from '../checks/errors.ts';
import { isPlainObject, oneOf } from '../checks/options.ts';
import { StoreWall } from '../time/store-wall.ts';
import { kindOf } from './limit-kind.ts';
import { systemTime } from '../time/time.ts';

/**
 * A day from which the periods of a quota are counted: a date in the time zone of the quota, such as `'2026-01-31'`, or
 * an instant, whose local day and time count.
 */
export type AnchorDate = string | Date;

/** The numbers of a quota, as a user writes them. */
export interface QuotaNumbers {
  /** How many tokens there are in each period, a whole number from 1 to 10⁹. */
  readonly count: number;
  /** The calendar period after which all tokens come back. A week begins on Monday. */
  readonly per: CalendarUnit;
  /** The time zone of the calendar, such as `'Europe/Berlin'`. Default: UTC. */
  readonly timeZone?: string | undefined;
  /**
   * The day and time from which periods are counted, for billing cycles: 31 January gives 28 February and 31 March. A
   * function is called with each canonical id. Default: the first day of a month and a year, Monday, 00:00.
   */
  readonly anchor?: AnchorDate | ((id: string) => AnchorDate) | undefined;
  /**
   * Parts of the quota at which an event `quota-warning` is emitted, each above 0 and at most 1, such as `[0.8, 1]`.
   * Default: none.
   */
  readonly warnAt?: readonly number[] | undefined;
}

/** The options of a quota beside `count`. */
export const QUOTA_OPTIONS = ['per', 'timeZone', 'anchor', 'warnAt'] as const;

/** The calendar of a limit, by the wall clock of the store. */
export class LimitCalendar {
  readonly unit: CalendarUnit;
  readonly #wall: StoreWall;
  /** That of all ids, or a function that returns that of an id. */
  readonly #calendar: Calendar | ((id: string) => Calendar);

  constructor(unit: CalendarUnit, calendar: Calendar | ((id: string) => Calendar), wall: StoreWall) {
    this.unit = unit;
    this.#wall = wall;
    this.#calendar = calendar;
  }

  /**
   * Returns the calendar of an id.
   *
   * @throws {SluiceError} `ERR_OPTION` when the function `anchor` throws or returns no date.
   */
  of(id: string): Calendar {
    return typeof this.#calendar === 'function' ? this.#calendar(id) : this.#calendar;
  }

  /**
   * Returns the period of a calendar for a call of the store. It may be over: then the store uses the next one, or rejects
   * the call, which is repeated.
   */
  forStore(calendar: Calendar): PeriodEnds {
    return calendar.periodAt(this.#wall.latest());
  }

  /** Returns the period of a calendar that runs now. */
  running(calendar: Calendar): PeriodEnds {
    return calendar.periodAt(this.#wall.now());
  }
}

/** What belongs to the limit of a quota, and not to the numbers of an id. */
export interface CheckedQuota {
  readonly calendar: LimitCalendar;
  /** In ascending order. */
  readonly warnAt: readonly number[];
}

/**
 * Validates the calendar of a quota.
 *
 * @param where - The path of the limit in error messages: `limits.Monthly`.
 * @param wall - The wall clock of the store. Default: that of this process.
 * @returns `undefined` for a limit of another kind.
 * @throws {SluiceError} `ERR_OPTION` for a wrong option, `ERR_LIMIT` for the options of two kinds.
 */
export function quotaOf(
  where: string,
  limit: string,
  definition: object,
  wall: StoreWall = new StoreWall(systemTime),
): CheckedQuota | undefined {
  if (kindOf(where, definition) !== 'quota') return undefined;
  const given = definition as QuotaNumbers;
  const unit = oneOf(`${where}.per`, given.per, CALENDAR_UNITS);
  const timeZone = given.timeZone === undefined ? 'UTC' : checkTimeZone(`${where}.timeZone`, given.timeZone);
  const { anchor } = given;
  const calendar =
    typeof anchor === 'function'
      ? anchoredBy(anchor, { unit, timeZone, limit })
      : new Calendar(unit, anchorOf(unit, timeZone, anchor, { option: `${where}.anchor` }), timeZone);
  const warnAt = given.warnAt === undefined ? [] : checkedThresholds(`${where}.warnAt`, given.warnAt);
  return { calendar: new LimitCalendar(unit, calendar, wall), warnAt };
}

function checkedThresholds(option: string, value: unknown): readonly number[] {
  const isRight = (part: unknown): boolean => typeof part === 'number' && part > 0 && part <= 1;
  if (Array.isArray(value) && value.every(isRight)) {
    return [...new Set(value as readonly number[])].toSorted((a, b) => a - b);
  }
  const demand = 'an array of numbers above 0, at most 1';
  throw complaint('ERR_OPTION', { option, demand, value, remedy: 'For example warnAt: [0.8, 1].' });
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

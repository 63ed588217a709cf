import type { CalendarUnit } from '../calendar/calendar.ts';
import type { CalendarPeriod } from '../store/calendar-period.ts';

/** The periods of a calendar, by its name: `month:31:0:Europe/Berlin`. */
export interface NamedPeriods {
  readonly name: string;
  /** Returns the current period at a time, in milliseconds of Unix time. */
  periodAt(wallMs: number): CalendarPeriod;
}

/** The periods of a limit, by the wall clock of its store. */
export interface Periods {
  /** The calendar period: `month`. */
  readonly unit: CalendarUnit;
  /** Returns the first instant at which the clock of its time zone shows a local time, both in milliseconds. */
  instantOf(local: number): number;
  /** The most tokens that a quota can have in one of them. */
  readonly mostTokens: number;
  /** The name of its calendar, or what the calendars of all ids have in common. */
  readonly name: string;
  /**
   * Returns the calendar of an id.
   *
   * @throws {SluiceError} `ERR_OPTION` when the function `anchor` throws or returns no date.
   */
  of(id: string): NamedPeriods;
  /**
   * Returns the period of a calendar for a call of the store. It may be over: then the store uses the next one, or rejects
   * the call, which is repeated.
   */
  forStore(named: NamedPeriods): CalendarPeriod;
  /** Returns the period of a calendar that runs now. */
  running(named: NamedPeriods): CalendarPeriod;
}

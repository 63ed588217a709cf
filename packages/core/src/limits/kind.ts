import type { Calendar, CalendarUnit, PeriodEnds } from '../calendar/calendar.ts';
import type { Key } from '../keys/key.ts';
import type { Bound } from '../rule/at-most.ts';
import type { NumbersKind, Numbers } from '../rule/rate.ts';
import type { DefinedLimit } from './defined-limit.ts';
import type { LoadSource } from './load-source.ts';
import type { OptionRows, OptionTable } from './option.ts';
import type { BorrowTerms, SlotTerms } from './treatment.ts';

/**
 * A kind of limits: its options, how its numbers are validated, and how its level comes down. docs/architecture.md says
 * how to add one.
 *
 * @typeParam Options - The options beside those that every limit has.
 * @typeParam Override - What an override may change.
 */
export interface Kind<Options extends object, Override extends object = never> extends NumbersKind {
  /** With its article: `a quota`. */
  readonly noun: string;
  /** The option that shows the kind. Only a rate has none: a limit without any of them is one. */
  readonly mark: (keyof Options & string) | undefined;
  /** An option as one writes it, for messages: `per: 'month'`. */
  readonly example: string;
  readonly options: OptionTable<Options>;
  /** The options that must be given. */
  readonly needed: readonly (keyof Options & string)[];
  /** What an override of its limits may change. Without it, overrides are `unlimited` or `blocked`. */
  readonly override: OverrideKind<Override> | undefined;
  /** The key of a limit without one. Without it, a limit must have a key. */
  readonly key?: Key;

  /**
   * Validates the options of a limit.
   *
   * @throws {SluiceError} For the first wrong option.
   */
  define(options: Options, of: DefinedLimit): KindParts;

  /** Returns the numbers of a limit as text, for people: `100 per 1 s, burst 20`. */
  describe(limit: Pick<KindParts, 'rate' | 'calendar'>): string;
}

/** What an override of a kind's limits may change. */
export interface OverrideKind<Override extends object> {
  readonly options: OptionTable<Override>;
  readonly needed: readonly (keyof Override & string)[];
  /** For messages: `{ count: 50000 }`. */
  readonly example: string;

  /**
   * Validates the numbers of an override.
   *
   * @param where - Their path in error messages: `overrides.Orders['12345678']`.
   * @throws {SluiceError} For the first wrong option.
   */
  rate(where: string, numbers: Override): Numbers;

  /**
   * Rejects numbers that the limit does not allow.
   *
   * @throws {SluiceError} For the first wrong number.
   */
  check?(where: string, rate: Numbers, limit: Partial<Pick<KindParts, 'calendar'>>): void;
}

/** What a kind makes of the options of a limit. Most limits have few of them. */
export interface KindParts {
  readonly rate: Numbers;
  /** The bounds of `atMost`, which the numbers of the limit and of its overrides satisfy. */
  readonly bounds: readonly Bound[];
  /** How the limit borrows; undefined if it does not. */
  readonly borrow: BorrowTerms | undefined;
  /** How far processes with leases may exceed the limit together. Undefined for a limit that is decided exactly. */
  readonly overshoot: number | undefined;
  /** The calendar of a quota; undefined for other limits. */
  readonly calendar: Periods | undefined;
  /** The parts of a quota at which a warning is emitted, in ascending order. */
  readonly warnAt: readonly number[];
  /** How the slots of a concurrency limit are held; undefined for other limits. */
  readonly slots: SlotTerms | undefined;
  /** The load of a load limit; undefined for other limits. */
  readonly load: LoadSource | undefined;
}

/** The periods of a limit, by the wall clock of its store. */
export interface Periods {
  readonly unit: CalendarUnit;
  /** The most tokens that a quota can have in one of them. */
  readonly mostTokens: number;
  /** The name of its calendar, or what the calendars of all ids have in common. */
  readonly name: string;
  /**
   * Returns the calendar of an id.
   *
   * @throws {SluiceError} `ERR_OPTION` when the function `anchor` throws or returns no date.
   */
  of(id: string): Calendar;
  /**
   * Returns the period of a calendar for a call of the store. It may be over: then the store uses the next one, or rejects
   * the call, which is repeated.
   */
  forStore(calendar: Calendar): PeriodEnds;
  /** Returns the period of a calendar that runs now. */
  running(calendar: Calendar): PeriodEnds;
}

/** The parts of a limit that is nothing but numbers. */
export const NUMBERS_ALONE: Omit<KindParts, 'rate'> = {
  bounds: [],
  borrow: undefined,
  overshoot: undefined,
  calendar: undefined,
  warnAt: [],
  slots: undefined,
  load: undefined,
};

/** Any kind. Its options are validated by the kind itself. */
export interface AnyKind extends Kind<never> {
  readonly options: OptionRows;
  readonly needed: readonly string[];
  readonly mark: string | undefined;
  readonly override:
    | (OverrideKind<never> & { readonly options: OptionRows; readonly needed: readonly string[] })
    | undefined;
}

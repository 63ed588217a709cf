import type { Bound } from '../rule/at-most.ts';
import type { Numbers } from '../rule/rate.ts';
import type { Periods } from './periods.ts';
import type { SlotTerms } from './treatment.ts';

/** What a kind makes of the options of a limit. Most limits have few of them. */
export interface LimitParts {
  readonly rate: Numbers;
  /** The bounds of `atMost`, which the numbers of the limit and of its overrides satisfy. */
  readonly bounds: readonly Bound[];
  /** How far processes with leases may exceed the limit together. Undefined for a limit that is decided exactly. */
  readonly overshoot: number | undefined;
  /** The calendar by which the level is reset; undefined for other limits. */
  readonly calendar: Periods | undefined;
  /** How the slots of the limit are held; undefined for other limits. */
  readonly slots: SlotTerms | undefined;
  /** What only the kind itself reads. */
  readonly own: object | undefined;
}

/** The parts of a limit that is nothing but numbers. */
export const NUMBERS_ALONE: Omit<LimitParts, 'rate'> = {
  bounds: [],
  overshoot: undefined,
  calendar: undefined,
  slots: undefined,
  own: undefined,
};

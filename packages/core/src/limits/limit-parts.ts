import type { Bound } from '../rule/at-most.ts';
import type { Numbers } from '../rule/rate.ts';
import type { Periods } from './periods.ts';

/** What a kind makes of the options of a limit. Most limits have few of them. */
export interface LimitParts {
  readonly rate: Numbers;
  /** The bounds of `atMost`, which the numbers of the limit and of its overrides satisfy. */
  readonly bounds: readonly Bound[];
  /** How far processes with leases may exceed the limit together. Undefined for a limit that is decided exactly. */
  readonly overshoot: number | undefined;
  /** The periods at whose ends the level is reset; undefined for other limits. */
  readonly periods: Periods | undefined;
  /** Whether its buckets are in the store, and not in each process. */
  readonly isStored: boolean;
  /** As in a `Treatment`. */
  readonly holding: object | undefined;
  /** What only the kind itself reads. */
  readonly own: object | undefined;
}

/** The parts of a limit that is nothing but numbers. */
export const NUMBERS_ALONE: Omit<LimitParts, 'rate'> = {
  bounds: [],
  overshoot: undefined,
  periods: undefined,
  isStored: true,
  holding: undefined,
  own: undefined,
};

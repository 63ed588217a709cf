import type { Value } from '../scenario/value.ts';

/** When requests arrive. */
export interface Arrivals {
  /** About how many requests there are: the number itself, or its mean. */
  readonly about: number;
  /** Returns the moments in ascending order, in microseconds that need not be whole. */
  moments(): Iterable<number>;
}

/** A kind of arrivals, named by its first field. */
export interface ArrivalKind {
  /** The other fields. */
  readonly fields: readonly string[];
  read(fields: ReadonlyMap<string, Value>, whole: Value): Arrivals;
}

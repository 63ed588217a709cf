import type { NumbersKind } from '../rule/rate.ts';
import type { Numbers } from '../rule/rate.ts';
import type { Periods } from './periods.ts';

/** A call with entries. `hold` is a `spend` whose decision holds slots. */
export type EntryCall = 'spend' | 'hold' | 'check' | 'firstOf' | 'charge' | 'refund' | 'reset' | 'settle';

/** What a limit shows of its kind. */
export interface LimitKind extends NumbersKind {
  /** With its article: `a quota`. */
  readonly noun: string;
  /** What to do instead of a call that its limits do not have. Undefined for a kind whose limits have all calls. */
  readonly instead?: Readonly<Partial<Record<EntryCall, string>>>;

  /** Returns the numbers of a limit as text, for people: `100 per 1 s, burst 20`. */
  describe(limit: { readonly rate: Numbers; readonly periods: Periods | undefined }): string;
}

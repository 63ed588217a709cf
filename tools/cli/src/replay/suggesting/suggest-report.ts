import type { Band } from '../counting/band.ts';
import type { InputReport } from '../counting/report.ts';
import type { RateAndBurst } from './rates.ts';

/** Numbers for a limit, and what they would have cost: the JSON of `sluice suggest --json`. */
export interface SuggestReport {
  readonly version: 1;
  /** Why the report is about a part of the log only; empty if it is about all of it. */
  readonly partial: readonly string[];
  readonly input: InputReport;
  /** Where ids come from: `ip`, `header:x-api-key`. */
  readonly key: string;
  /** Distinct ids. */
  readonly ids: number;
  /** The part of the ids that may be denied, from 0 to 1. */
  readonly denyAtMost: number;
  /** For each rate that was tried, the smallest burst that denies at most that part. In ascending order. */
  readonly rates: readonly RateAndBurst[];
  /** The rates that allow a client the fewest requests in a minute, in ten seconds, and in an hour; equal ones once. */
  readonly suggestions: readonly Suggestion[];
  readonly notes: readonly string[];
}

/** Numbers with their price, which is that of a replay with them. */
export interface Suggestion extends RateAndBurst {
  /** In which time they allow a client the fewest requests: `a minute`. */
  readonly tightestIn: string;
  /** The most requests that they allow a client in this time. */
  readonly most: number;
  /** The limit as a limits file has it. */
  readonly yaml: string;
  readonly requests: number;
  readonly denied: Band;
  /** Denied requests that the server had answered with a status from 200 to 299. */
  readonly deniedSuccesses: Band;
  readonly deniedIds: Band;
}

import { shownPosition } from '../nodes/position.ts';
import { readLimits } from '../check/read-limits.ts';
import { formatsOf, type CheckLimitsOptions } from './check-limits.ts';
import { checkSources } from './options.ts';

/** An override with an end. */
export interface OverrideEnding {
  readonly limit: string;
  /** As they are written. */
  readonly ids: readonly string[];
  /** As it is written: `2027-01-31`. */
  readonly until: string;
  /** The first millisecond of Unix time at which it no longer applies. */
  readonly endMs: number;
  /** Where it is: the file with line and column. */
  readonly place: string;
}

/**
 * Returns the overrides with an end, the first to end first. Those with problems are left out, or have ids that are not valid: see
 * {@link checkLimits}.
 *
 * @throws {SluiceError} Rejects with `ERR_OPTION`, `ERR_KEY` or `ERR_UNKNOWN_OPTION` if an option is wrong.
 */
export async function overrideEndings(options: CheckLimitsOptions): Promise<readonly OverrideEnding[]> {
  const read = checkSources('overrideEndings', options, ['formats', 'keys']);
  const { ends } = await readLimits(read, formatsOf(options));
  return ends
    .map(({ at, ids, ...end }) => ({ ...end, ids: ids.flat(), place: `${read.overrides!.label}:${shownPosition(at)}` }))
    .toSorted((one, other) => one.endMs - other.endMs);
}

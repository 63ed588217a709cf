import type { IdFormat, Key } from '@sluice/core';
import { KeyFormats, NamedFormats, type Formats } from '../check/formats.ts';
import type { Problem } from '../check/problem.ts';
import { readLimits } from '../check/read-limits.ts';
import { checkFormats, checkKeys, checkSources, type LimitKeys, type LimitSources } from './options.ts';

/** The options of reading limits without the application's code. */
export interface CheckOptions extends LimitSources {
  /**
   * Id formats that the files may name in addition to those of `@sluice/core`. A key, such as `domain()` of
   * `@sluice/domains`, adds the format of its ids.
   */
  readonly formats?: readonly (IdFormat | Key<never>)[] | undefined;
}

/** The options of {@link checkLimits}. */
export interface CheckLimitsOptions extends CheckOptions {
  /**
   * The keys of the limits, as {@link loadLimits} takes them. With keys, ids have the formats of the keys, the limits need no
   * `idFormat`, and `formats` is not used.
   */
  readonly keys?: LimitKeys<never> | undefined;
}

/**
 * Validates limits and overrides without the application's code, for example in a CI pipeline or a pre-commit hook. The
 * ids of overrides are validated by the `idFormat` of their limit, so a limit with overrides needs one, unless its key is
 * given.
 *
 *     const problems = await checkLimits({ defaults: 'limits.yaml', overrides: 'overrides.yaml' });
 *     for (const { text } of problems) console.error(text);
 *
 * @returns The problems, sorted by file and line: at most 1,000 for each file, and an empty array if there are none.
 * @throws {SluiceError} Rejects with `ERR_OPTION`, `ERR_KEY` or `ERR_UNKNOWN_OPTION` if an option is wrong.
 */
export async function checkLimits(options: CheckLimitsOptions): Promise<readonly Problem[]> {
  const read = checkSources('checkLimits', options, ['formats', 'keys']);
  const { problems } = await readLimits(read, formatsOf(options));
  return problems;
}

/** Returns the formats of ids: by keys, or by the `idFormat` of each limit. */
export function formatsOf({ formats, keys }: CheckLimitsOptions): Formats {
  if (keys === undefined) return new NamedFormats(checkFormats(formats ?? []));
  return new KeyFormats(new Map([...checkKeys(keys)].map(([name, { key }]) => [name, key])));
}

import type { IdFormat, Key } from '@sluice/core';
import { NamedFormats } from '../check/formats.ts';
import type { Problem } from '../check/problem.ts';
import { readLimits } from '../check/read-limits.ts';
import { checkFormats, checkSources, type LimitSources } from './options.ts';

/** The options of {@link checkLimits}. */
export interface CheckOptions extends LimitSources {
  /**
   * Id formats that the files may name in addition to those of `@sluice/core`. A key, such as `domain()` of
   * `@sluice/domains`, adds the format of its ids.
   */
  readonly formats?: readonly (IdFormat | Key<never>)[] | undefined;
}

/**
 * Validates limits and overrides without the application's code, for example in a CI pipeline or a pre-commit hook. The
 * ids of overrides are validated by the `idFormat` of their limit, so a limit with overrides needs one.
 *
 *     const problems = await checkLimits({ defaults: 'limits.yaml', overrides: 'overrides.yaml' });
 *     for (const { text } of problems) console.error(text);
 *
 * @returns The problems, sorted by file and line: at most 1,000 for each file, and an empty array if there are none.
 * @throws {SluiceError} Rejects with `ERR_OPTION` or `ERR_UNKNOWN_OPTION` if an option is wrong.
 */
export async function checkLimits(options: CheckOptions): Promise<readonly Problem[]> {
  const read = checkSources('checkLimits', options, ['formats']);
  const { problems } = await readLimits(read, new NamedFormats(checkFormats(options.formats ?? [])));
  return problems;
}

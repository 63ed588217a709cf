import type { IdFormat, Key } from '@sluice/core';
import { NamedFormats } from './check/formats.ts';
import type { Problem } from './check/problem.ts';
import { readLimits } from './check/read-limits.ts';
import { checkFormats, checkSources, type LimitSources } from './options.ts';

/** The options of {@link checkLimits}. */
export interface CheckOptions extends LimitSources {
  /** Id formats that limits name beside those of `@sluice/core`, such as `domain()` of `@sluice/domains`. */
  readonly formats?: readonly (IdFormat | Key<never>)[] | undefined;
}

/**
 * Checks files without the code that uses them, for a pipeline or a hook: ids by the `idFormat` that their limit says.
 *
 *     const problems = await checkLimits({ defaults: 'limits.yaml', overrides: 'overrides.yaml' });
 *     for (const { text } of problems) console.error(text);
 *
 * @returns What is wrong, in the order of files and lines; at most 1000 problems of each file.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong options.
 */
export async function checkLimits(options: CheckOptions): Promise<readonly Problem[]> {
  const read = checkSources('checkLimits', options, ['formats']);
  const { problems } = await readLimits(read, new NamedFormats(checkFormats(options.formats ?? [])));
  return problems;
}

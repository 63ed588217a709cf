import type { Key } from '@sluice/core';
import { KeyFormats } from './check/formats.ts';
import { problemsError } from './check/problem.ts';
import { readLimits } from './check/read-limits.ts';
import { RememberedLimits, type LoadedLimits, type Recipe } from './loaded-limits.ts';
import { checkKeys, checkSources, type LimitKeys, type LimitSources } from './options.ts';

/** The options of {@link loadLimits}. */
export interface LoadOptions<Request = unknown> extends LimitSources {
  /** A key for each limit of the file, and for no other. */
  readonly keys: LimitKeys<Request>;
}

/**
 * Reads limits and overrides, and checks both whole:
 *
 *     const loaded = await loadLimits({
 *       defaults: 'limits.yaml',
 *       overrides: 'overrides.yaml',
 *       keys: { NewOrdersPerAccount: accountId((req: Request) => req.user?.id ?? null) },
 *     });
 *     const limiter = createLimiter({ ...loaded });
 *
 * Texts are parsed in threads of their own, and ids are checked in short turns: the event loop never waits for long.
 *
 * @throws {SluiceError} `ERR_LIMIT_FILES` with all problems of both files, a line for each; `ERR_OPTION`,
 * `ERR_UNKNOWN_OPTION` or `ERR_KEY` for wrong options.
 */
export async function loadLimits<Request = unknown>(options: LoadOptions<Request>): Promise<LoadedLimits<Request>> {
  const read = checkSources('loadLimits', options, ['keys']);
  return readRecipe({ read, keys: checkKeys(options.keys) });
}

/** Reads limits as they were read before. Throws as {@link loadLimits} does. */
export async function readRecipe<Request>(recipe: Recipe<Request>): Promise<LoadedLimits<Request>> {
  const keys = new Map([...recipe.keys].map(([name, { key }]) => [name, key as Key<never>]));
  const read = await readLimits(recipe.read, new KeyFormats(keys));
  if (read.problemCount > 0) throw problemsError(read.problems, read.problemCount);
  return new RememberedLimits(read, recipe);
}

import type { Key } from '@sluice/core';
import { KeyFormats } from '../check/formats.ts';
import { problemsError } from '../check/problem.ts';
import { readLimits } from '../check/read-limits.ts';
import { RememberedLimits, type LoadedLimits, type Recipe } from './loaded-limits.ts';
import { checkKeys, checkSources, type LimitKeys, type LimitSources } from './options.ts';

/** The options of {@link loadLimits}. */
export interface LoadOptions<Request = unknown> extends LimitSources {
  /** A key for each limit of the file. A key without a limit in the file is an error. */
  readonly keys: LimitKeys<Request>;
}

/**
 * Reads limits and overrides, and validates both as a whole:
 *
 *     const loaded = await loadLimits({
 *       defaults: 'limits.yaml',
 *       overrides: 'overrides.yaml',
 *       keys: { NewOrdersPerAccount: accountId((req: Request) => req.user?.id ?? null) },
 *     });
 *     const limiter = createLimiter({ ...loaded });
 *
 * Large texts are parsed in worker threads, and ids are validated in slices of a few milliseconds, so that the event
 * loop is never blocked for long. Call {@link watchLimits} to follow changes of the sources.
 *
 * @throws {SluiceError} Rejects with `ERR_LIMIT_FILES` if a source has problems (one line for each of the first 50),
 * and with `ERR_OPTION`, `ERR_UNKNOWN_OPTION` or `ERR_KEY` if an option is wrong.
 */
export async function loadLimits<Request = unknown>(options: LoadOptions<Request>): Promise<LoadedLimits<Request>> {
  const read = checkSources('loadLimits', options, ['keys']);
  return readRecipe({ read, keys: checkKeys(options.keys) });
}

/** Reads limits with options that are already validated. Rejects as {@link loadLimits} does. */
export async function readRecipe<Request>(recipe: Recipe<Request>): Promise<LoadedLimits<Request>> {
  const keys = new Map([...recipe.keys].map(([name, { key }]) => [name, key as Key<never>]));
  const read = await readLimits(recipe.read, new KeyFormats(keys));
  if (read.problemCount > 0) throw problemsError(read.problems, read.problemCount);
  return new RememberedLimits(read, recipe);
}

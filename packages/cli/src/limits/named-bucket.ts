import type { LoadedLimits } from '@sluice/config';
import type { Call } from '../console/command.ts';
import { UsageError } from '../console/failure.ts';
import { loadFiles } from './files.ts';

/** Limits and overrides, and the bucket that the words of a command name. */
export interface NamedBucket {
  readonly loaded: LoadedLimits;
  readonly limit: string;
  /** As it was written. */
  readonly id: string;
}

/**
 * Reads the words `limits [overrides] limit id`.
 *
 * @throws {UsageError} If there are fewer or more words.
 * @throws {SluiceError} `ERR_LIMIT_FILES` if the files have problems.
 */
export async function namedBucket(call: Call): Promise<NamedBucket> {
  const { args } = call;
  const [limits = '', ...words] = args;
  if (words.length < 2 || words.length > 3) {
    const remedy = 'For example limits.yaml overrides.yaml Orders 12345678.';
    throw new UsageError(
      `The words must be a file of limits, optionally a file of overrides, the name of a limit, and an id, but there are ${args.length}. ${remedy}`,
    );
  }
  const [limit, id] = words.slice(-2) as [string, string];
  const overrides = words.length === 3 ? words[0] : undefined;
  return { loaded: await loadFiles({ limits, overrides }, call), limit, id };
}

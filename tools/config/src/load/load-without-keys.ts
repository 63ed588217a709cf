import { everyone, by, SluiceError, type IdFormat, type Key } from '@sluice/core';
import { shownName } from '@sluice/core/kit';
import { NamedFormats } from '../check/formats.ts';
import { problemsError } from '../check/problem.ts';
import type { LimitsRead } from '../check/limits-reading.ts';
import { readLimits, type ReadOptions } from '../check/read-limits.ts';
import type { CheckOptions } from './check-limits.ts';
import { EventLoops } from './event-loops.ts';
import { poolOf } from '../shape/limits-shape.ts';
import { RememberedLimits, type LoadedLimits } from './load-limits.ts';
import { checkFormats, checkSources } from './options.ts';

/**
 * Reads limits and overrides without the application's code, for tools that name ids themselves: a script of an
 * operator, or a simulation. The ids of each limit have the `idFormat` of the file. The limits can be used with
 * `limiter.spend` and the like, but not in a middleware, because no key gets an id from a request.
 *
 *     const loaded = await loadWithoutKeys({ defaults: 'limits.yaml', overrides: 'overrides.yaml' });
 *     const limiter = createLimiter({ ...loaded, store });
 *     await limiter.reset([{ limit: 'NewOrdersPerAccount', id: '12345678' }]);
 *
 * A limit without an `idFormat` is loaded too, but every id of it is rejected with `ERR_ID`: only its format says which
 * spellings are the same bucket. A pool from which others borrow needs none.
 *
 * @returns Limits that {@link watchLimits} can follow, as long as the file has the same limits.
 * @throws {SluiceError} Rejects with `ERR_LIMIT_FILES` if a source has problems, and with `ERR_OPTION` or
 * `ERR_UNKNOWN_OPTION` if an option is wrong.
 */
export async function loadWithoutKeys(options: CheckOptions): Promise<LoadedLimits> {
  return readWithoutKeys(options);
}

/** The same for a program that watches the files itself. */
export async function readWithoutKeys(options: CheckOptions, onNamed?: ReadOptions['onNamed']): Promise<LoadedLimits> {
  const sources = { ...checkSources('loadWithoutKeys', options, ['formats']), onNamed };
  const formats = new NamedFormats(checkFormats(options.formats ?? []));
  const read = await readLimits(sources, formats);
  if (read.problemCount > 0) throw problemsError(read.problems, read.problemCount);
  const keys = new Map(Object.entries(keysOf(read, formats)).map(([name, key]) => [name, { key }]));
  return new RememberedLimits(read, { read: sources, keys, eventLoops: new EventLoops() });
}

function keysOf({ limits }: LimitsRead, formats: NamedFormats): Record<string, Key> {
  const pools = new Set(
    [...limits.values()].map(({ numbers }) => (numbers === undefined ? undefined : poolOf(numbers))),
  );
  const formatOf = (limit: string): IdFormat => {
    const format = formats.of(limit);
    if (typeof format !== 'string') return format;
    return pools.has(limit) ? everyone().format : missingFormat(limit);
  };
  return Object.fromEntries([...limits.keys()].map((name) => [name, by(undefined, { format: formatOf(name) })]));
}

function missingFormat(limit: string): IdFormat {
  return {
    name: 'missing',
    canonical: () => {
      const remedy = `Add the format of its key in code to the file, for example idFormat: accountId.`;
      const message = `The limit \`${shownName(limit)}\` has no idFormat, so it is not known which bucket an id has. ${remedy}`;
      throw new SluiceError('ERR_ID', message);
    },
  };
}

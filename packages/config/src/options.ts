import type { FailurePolicy, IdFormat, Key } from '@sluice/core';
import { checkOptions, complaint, isIdFormat, isKey, wholeNumber } from '@sluice/core/limits';
import type { ReadOptions } from './check/read-limits.ts';
import { sourceOf, type LimitSource } from './sources/source.ts';

/** Where limits stand. */
export interface LimitSources {
  /** The limits by name. */
  readonly defaults: LimitSource;
  /** Other numbers for listed ids. Left out: there are none. */
  readonly overrides?: LimitSource | undefined;
  /** How large each text may be, in bytes, from 1 to 64 MiB. Default: 16 MiB. */
  readonly maxBytes?: number | undefined;
}

/** A key, and what belongs into code beside it. */
export interface KeyOptions<Request = unknown> {
  readonly key: Key<Request>;
  /** What holds while the store can't answer, as in a limit that is written in code. */
  readonly onFailure?: FailurePolicy | undefined;
}

/** A key for each limit of the file: how it gets its id from a request. */
export type LimitKeys<Request = unknown> = Readonly<Record<string, Key<Request> | KeyOptions<Request>>>;

const MEBIBYTE = 2 ** 20;
const SOURCES = ['defaults', 'overrides', 'maxBytes'] as const;
const BOUNDS = { memoryMb: 512, timeMs: 60_000, background: false };

/**
 * Checks the options that say where limits stand.
 *
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION`.
 */
export function checkSources(call: string, options: LimitSources, others: readonly string[]): ReadOptions {
  checkOptions(call, options, [...SOURCES, ...others]);
  const { defaults, overrides, maxBytes = 16 * MEBIBYTE } = options;
  return {
    defaults: sourceOf('defaults', defaults),
    overrides: overrides === undefined ? undefined : sourceOf('overrides', overrides),
    maxBytes: wholeNumber('maxBytes', maxBytes, {
      min: 1,
      max: 64 * MEBIBYTE,
      remedy: 'For example maxBytes: 16_777_216, which is the default.',
    }),
    bounds: BOUNDS,
  };
}

/**
 * Checks keys, and gives them in one shape.
 *
 * @throws {SluiceError} `ERR_OPTION` when they are no object; `ERR_KEY` for what is no key.
 */
export function checkKeys<Request>(keys: LimitKeys<Request>): ReadonlyMap<string, KeyOptions<Request>> {
  if (typeof keys !== 'object' || keys === null || Array.isArray(keys)) {
    const remedy = 'For example keys: { NewOrders: accountId((req) => req.user?.id ?? null) }.';
    throw complaint('ERR_OPTION', { option: 'keys', demand: 'an object of keys by limit', value: keys, remedy });
  }
  return new Map(Object.entries(keys).map(([name, given]) => [name, keyOptions(name, given)]));
}

function keyOptions<Request>(name: string, given: Key<Request> | KeyOptions<Request>): KeyOptions<Request> {
  if (isKey(given)) return { key: given };
  const where = `keys.${name}`;
  if (typeof given === 'object' && given !== null) checkOptions(where, given, ['key', 'onFailure']);
  if (isKey(given?.key)) return given;
  const remedy = "For example ipAddress(), or { key: ipAddress(), onFailure: 'closed' }.";
  throw complaint('ERR_KEY', { option: where, demand: 'a key', value: given, remedy });
}

/**
 * Checks formats; a key stands for its format.
 *
 * @throws {SluiceError} `ERR_OPTION` for what is neither.
 */
export function checkFormats(formats: readonly (IdFormat | Key<never>)[]): readonly IdFormat[] {
  const demand = 'a list of id formats, or of keys for theirs';
  const remedy = 'For example formats: [domain(), fqdnSet()].';
  if (!Array.isArray(formats)) throw complaint('ERR_OPTION', { option: 'formats', demand, value: formats, remedy });
  return formats.map((given: unknown, i) => {
    const format = isKey(given) ? given.format : given;
    if (isIdFormat(format)) return format;
    throw complaint('ERR_OPTION', { option: `formats[${i}]`, demand: 'an id format, or a key', value: given, remedy });
  });
}

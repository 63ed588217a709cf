import type { IdFormat, Key } from '@sluice/core';
import { checkOptions, complaint, isIdFormat, isKey, systemTime, wholeNumber } from '@sluice/core/kit';
import type { ReadOptions } from '../check/read-limits.ts';
import type { KeyOptions } from '../shape/limits-shape.ts';
import { sourceOf, type LimitSource } from '../sources/source.ts';

export type { KeyOptions };

/** The sources of limits and overrides. */
export interface LimitSources {
  /** The source of the limits, by name. */
  readonly defaults: LimitSource;
  /** The source of the overrides: other numbers for listed ids. Default: no overrides. */
  readonly overrides?: LimitSource | undefined;
  /**
   * The maximum size of each text in bytes, a whole number from 1 to 67,108,864 (64 MiB). Default: 2 MiB. YAML may have at
   * most 256 KiB of it and JSON 2 MiB, which block the event loop for some dozen milliseconds: more ids are in files of
   * their own.
   */
  readonly maxBytes?: number | undefined;
}

/** A key for each limit of the file, by the limit's name. The key gives the id of a request. */
export type LimitKeys<Request = unknown> = Readonly<Record<string, Key<Request> | KeyOptions<Request>>>;

const MEBIBYTE = 2 ** 20;
const SOURCES = ['defaults', 'overrides', 'maxBytes'] as const;
const BOUNDS = { timeMs: 60_000, time: systemTime };

/**
 * Validates the options that all functions of this package share.
 *
 * @param call - The name of the function, for messages.
 * @param others - The names of the function's own options.
 * @throws {SluiceError} `ERR_OPTION` or `ERR_UNKNOWN_OPTION`.
 */
export function checkSources(call: string, options: LimitSources, others: readonly string[]): ReadOptions {
  checkOptions(call, options, [...SOURCES, ...others]);
  const { defaults, overrides, maxBytes = 2 * MEBIBYTE } = options;
  return {
    defaults: sourceOf('defaults', defaults),
    overrides: overrides === undefined ? undefined : sourceOf('overrides', overrides),
    maxBytes: wholeNumber('maxBytes', maxBytes, {
      min: 1,
      max: 64 * MEBIBYTE,
      remedy: 'For example maxBytes: 16_777_216; the default is 2_097_152.',
    }),
    ...BOUNDS,
  };
}

/**
 * Validates keys and returns all of them in the form `{ key, onFailure }`.
 *
 * @throws {SluiceError} `ERR_OPTION` if `keys` is not an object, `ERR_KEY` if one of them is not a key,
 * `ERR_UNKNOWN_OPTION` if one has an unknown field.
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
 * Validates id formats, and replaces each key by its format.
 *
 * @throws {SluiceError} `ERR_OPTION` if `formats` is not a list, or if an item is neither an id format nor a key.
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

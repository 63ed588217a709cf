import { toNativePromise, allOf, andThen, type Awaitable } from '../async/awaitable.ts';
import { complaint, shownName } from '../checks/errors.ts';
import type { IdFormat } from '../ids/id-format.ts';
import { isKey, keyOf, type Key, type KeySource } from './key.ts';

const SEPARATOR = ':';

/**
 * Combines keys: one bucket for each account at each domain, for example.
 *
 *     compound(accountId((req: Request) => req.user.id), domain((req: Request) => req.body.name))
 *
 * The name of the format is made of its parts, `accountId:domain`, and so are the ids, `12345678:example.com`. In each
 * part except the last, `:` is written `%3A` and `%` is written `%25`, so that different parts never give the same id.
 * If one part returns `null`, the limit does not apply to the request. If one part has no function, the limit can be
 * used only with `limiter.spend`.
 *
 * @param keys - Two keys or more.
 * @throws {SluiceError} `ERR_KEY` for fewer than two keys, and for a value that is not a key.
 */
export function compound<Request>(...keys: readonly Key<Request>[]): Key<Request> {
  for (const key of keys) {
    if (isKey(key)) continue;
    throw complaint('ERR_KEY', { option: 'compound', demand: 'given keys', value: key, remedy: EXAMPLE });
  }
  if (keys.length < 2) {
    throw complaint('ERR_KEY', {
      option: 'compound',
      demand: 'given two keys or more',
      value: keys.length,
      remedy: EXAMPLE,
    });
  }
  const format = compoundFormat(keys.map((key) => key.format));
  const ways = keys.map(({ idOf }) => idOf).filter((idOf) => idOf !== undefined);
  const idOf: Key<Request>['idOf'] = (source, limit) => joined(partsOf(ways, source, limit));
  return keyOf<Request>(format, ways.length < keys.length ? undefined : idOf);
}

const EXAMPLE = 'For example compound(accountId((req) => req.user.id), ipAddress()).';

function compoundFormat(formats: readonly IdFormat[]): IdFormat {
  const name = formats.map((format) => format.name).join(SEPARATOR);
  const pattern = formats.map((format) => `<${format.name}>`).join(SEPARATOR);
  return {
    name,
    canonical(text) {
      const parts = split(text, formats.length);
      if (parts !== undefined) return join(parts.map((part, i) => formats[i]!.canonical(part)));
      const demand = `an id of ${shownName(name)}: ${formats.length} parts separated by \`:\``;
      const remedy = `Write ${shownName(pattern)}, with %3A for a \`:\` in any part but the last.`;
      throw complaint('ERR_ID', { option: 'id', demand, value: text, remedy, status: 400 });
    },
    firstParts(text) {
      const parts = text.split(SEPARATOR);
      if (parts.length >= formats.length) return undefined;
      return parts.map((part, i) => escaped(formats[i]!.canonical(unescaped(part)))).join(SEPARATOR);
    },
  };
}

function partsOf<Request>(
  ways: readonly NonNullable<Key<Request>['idOf']>[],
  source: KeySource<Request>,
  limit: string,
): readonly Awaitable<string | null>[] {
  const parts: Awaitable<string | null>[] = [];
  try {
    for (const idOf of ways) parts.push(toNativePromise(idOf(source, limit)));
  } catch (cause) {
    // Earlier parts may be pending and reject later. Combined with them in one Promise.all, no rejection is unhandled.
    parts.push(Promise.reject(cause));
  }
  return parts;
}

function joined(parts: readonly Awaitable<string | null>[]): Awaitable<string | null> {
  return andThen(allOf(parts), (ids) => (ids.every((id) => id !== null) ? join(ids) : null));
}

function join(ids: readonly string[]): string {
  const last = ids.length - 1;
  return ids.map((id, i) => (i === last ? id : escaped(id))).join(SEPARATOR);
}

function escaped(id: string): string {
  return id.replaceAll('%', '%25').replaceAll(SEPARATOR, '%3A');
}

function unescaped(part: string): string {
  return part.replaceAll('%3A', SEPARATOR).replaceAll('%25', '%');
}

/**
 * Splits an id into its parts, of which the last one may contain separators; returns `undefined` when there are too
 * few.
 */
function split(text: string, count: number): readonly string[] | undefined {
  const pieces = text.split(SEPARATOR);
  if (pieces.length < count) return undefined;
  const last = pieces.splice(count - 1).join(SEPARATOR);
  return [...pieces.map(unescaped), last];
}

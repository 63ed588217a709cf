import { adopted, andThen, type Awaitable } from '../async/awaitable.ts';
import { complaint, shown, shownName, SluiceError } from '../checks/errors.ts';
import type { IdFormat } from '../ids/id-format.ts';
import type { IpAddress } from '../ids/ip-address.ts';
import { isPlainObject } from '../checks/options.ts';

/** What a key can take an id from. */
export interface KeySource<Request> {
  /** The framework's own request: Express' `req`, Koa's `ctx`, Fastify's `request`. */
  readonly request: Request;
  /**
   * The address of the client, found through the trusted proxies.
   *
   * @throws {SluiceError} `ERR_NO_CLIENT_ADDRESS` when there is none.
   */
  readonly clientAddress: IpAddress;
}

/** What a user's function gives: text, a safe integer, a bigint, or `null` when the limit says nothing here. */
export type IdValue = string | number | bigint | null;

/** How a limit gets its id from a request: an id format, and where the text comes from. */
export interface Key<Request = unknown> {
  readonly format: IdFormat;
  /**
   * Gives the canonical id of a request, or `null` when the limit says nothing about it. Left out by keys that have
   * no source: their limits are used through `limiter.spend` alone.
   */
  readonly idOf: ((source: KeySource<Request>, limit: string) => Awaitable<string | null>) | undefined;
  /**
   * A key that falls back to another one where this one gives `null`. Ids of the fallback are written with its
   * format's name, `clientNetwork:203.0.113.7`, so that no id of this key can name their buckets.
   */
  or<Other>(fallback: Key<Other>): Key<Request & Other>;
}

/**
 * Makes a key of an id format and a function. The function gives text, a safe integer, a bigint, or a promise of one;
 * `null` means that the limit says nothing about this request. Anything else (`undefined`, `''`, `NaN`, an object) is
 * an error, never a bucket that strangers share.
 *
 * @param from - Left out: the limit is used through `limiter.spend` alone.
 */
export function keyFrom<Request = unknown>(
  format: IdFormat,
  from?: (request: Request) => Awaitable<IdValue>,
): Key<Request> {
  if (!isIdFormat(format)) {
    const remedy = "For example keyFrom({ name: 'customerNumber', canonical: (text) => text }).";
    throw complaint('ERR_KEY', { option: 'keyFrom(format)', demand: 'an id format', value: format, remedy });
  }
  if (from === undefined) return keyOf(format, undefined);
  if (typeof from !== 'function') {
    throw complaint('ERR_KEY', {
      option: format.name,
      demand: 'given a function of the request',
      value: from,
      remedy: `For example ${shownName(format.name)}((req) => req.user?.id ?? null).`,
    });
  }
  return keyOf(format, (source, limit) => idOfValue(format, adopted(from(source.request)), limit));
}

/** Whether a value is what {@link keyFrom} makes. */
export function isKey(value: unknown): value is Key<never> {
  return isPlainObject(value) && isIdFormat(value['format']);
}

/** Whether a value has what an id format must have: a name, and a function that gives canonical ids. */
export function isIdFormat(value: unknown): value is IdFormat {
  if (!isPlainObject(value)) return false;
  const { name, canonical } = value;
  return typeof canonical === 'function' && typeof name === 'string' && name !== '';
}

/** Makes a key of an id format and the way to its canonical id. */
export function keyOf<Request>(format: IdFormat, idOf: Key<Request>['idOf']): Key<Request> {
  return { format, idOf, or: (fallback) => keyWithFallback({ format, idOf }, fallback) };
}

function idOfValue(format: IdFormat, value: Awaitable<IdValue>, limit: string): Awaitable<string | null> {
  if (typeof value === 'string') return format.canonical(value);
  if (value === null) return null;
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value)))
    return format.canonical(String(value));
  if (value instanceof Promise) return value.then((settled) => idOfValue(format, settled, limit));
  throw new SluiceError(
    'ERR_KEY',
    `The key function of limit "${shownName(limit)}" must return a string, a safe integer, a bigint, or null for a ` +
      `request that the limit does not apply to, but returned ${shown(value)}. To let requests without an id pass, ` +
      'write `?? null` after the id. To limit them by address, add .or(clientNetwork()) to the key.',
  );
}

type Source<Request> = Pick<Key<Request>, 'format' | 'idOf'>;

function keyWithFallback<First, Second>(first: Source<First>, second: Source<Second>): Key<First & Second> {
  if (!isKey(second)) {
    const remedy = 'For example .or(clientNetwork()).';
    throw complaint('ERR_KEY', { option: '.or', demand: 'given a key', value: second, remedy });
  }
  if (first.idOf === undefined || second.idOf === undefined) {
    const { name } = (first.idOf === undefined ? first : second).format;
    throw new SluiceError(
      'ERR_KEY',
      `\`.or\` needs two keys that get an id from a request. Give ${shownName(name)} a function, e.g. ${shownName(name)}((req) => req.user?.id ?? null).`,
    );
  }
  // The first format may be the same: its ids are raw, and those that look like the fallback's are refused.
  if (first.format.name.split('|').slice(1).includes(second.format.name)) {
    throw new SluiceError(
      'ERR_KEY',
      `\`.or\` needs fallbacks of different formats, but ${shownName(second.format.name)} is used already. Get both ids in one function instead: (req) => req.user?.id ?? req.apiKey ?? null.`,
    );
  }
  const [firstIdOf, secondIdOf] = [first.idOf, second.idOf];
  const format = fallbackFormat(first.format, second.format);
  const prefix = `${second.format.name}:`;
  return keyOf<First & Second>(format, (source, limit) =>
    andThen(adopted(firstIdOf(source, limit)), (id) =>
      id === null
        ? andThen(adopted(secondIdOf(source, limit)), (other) => (other === null ? null : prefix + other))
        : refusePrefix(format, prefix, id),
    ),
  );
}

function fallbackFormat(first: IdFormat, second: IdFormat): IdFormat {
  const prefix = `${second.name}:`;
  return {
    name: `${first.name}|${second.name}`,
    canonical: (text) =>
      text.startsWith(prefix) ? prefix + second.canonical(text.slice(prefix.length)) : first.canonical(text),
  };
}

// An account may call itself `clientNetwork:203.0.113.7`: it would spend from that client's bucket.
function refusePrefix(format: IdFormat, prefix: string, id: string): string {
  if (!id.startsWith(prefix)) return id;
  throw complaint('ERR_ID', {
    option: 'id',
    demand: `an id of ${shownName(format.name)} that does not start with '${shownName(prefix)}', which names the fallback's buckets`,
    value: id,
    status: 400,
  });
}

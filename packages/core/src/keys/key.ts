// The room keys: from a request to an id.
import { toNativePromise, andThen, type Awaitable } from '../async/awaitable.ts';
import { complaint, shown, shownName, SluiceError } from '../checks/errors.ts';
import type { IdFormat } from '../ids/id-format.ts';
import type { IpAddress } from '../ids/ip-address.ts';
import { checkOptions, isPlainObject } from '../checks/options.ts';
import { accountIdFormat, textFormat } from '../ids/account-id.ts';

/** The input from which a key gets an id. */
export interface KeySource<Request> {
  /** The framework's request: Express' `req`, Koa's `ctx`, Fastify's `request`. */
  readonly request: Request;
  /**
   * The address of the client, found with the option `trustedProxies`.
   *
   * @throws {SluiceError} `ERR_NO_CLIENT_ADDRESS` when there is no address.
   */
  readonly clientAddress: IpAddress;
}

/**
 * The result of a user's key function: a string, a safe integer, a bigint, or `null` when the limit does not apply to
 * the request.
 */
export type IdValue = string | number | bigint | null;

/** How a limit gets its id from a request: an id format and a source of the text. */
export interface Key<Request = unknown> {
  readonly format: IdFormat;
  /**
   * Returns the canonical id of a request, or `null` when the limit does not apply to it. Undefined for a key without a
   * source: its limit can be used only with `limiter.spend`.
   */
  readonly idOf: ((source: KeySource<Request>, limit: string) => Awaitable<string | null>) | undefined;
  /**
   * Returns a key that uses another key when this one returns `null`. Ids of the fallback start with the name of its
   * format, `clientNetwork:203.0.113.7`, so that no id of this key can name their buckets.
   *
   * @throws {SluiceError} `ERR_KEY` when the fallback is not a key, has a format that this key already falls back to,
   * or when either key has no function.
   */
  or<Other>(fallback: Key<Other>): Key<Request & Other>;
}

/**
 * Creates a key from an id format and a function of a user, which returns a string, a safe integer, a bigint, or a promise
 * of one; `null` means that the limit does not apply to the request. Any other value (`undefined`, `''`, `NaN`, an
 * object) is an error, so that unrelated clients never share a bucket.
 *
 * @param from - Undefined if the limit is used only with `limiter.spend`.
 * @throws {SluiceError} `ERR_KEY` when `from` is not a function.
 */
function keyFrom<Request>(
  format: IdFormat,
  from: ((request: Request) => Awaitable<IdValue>) | undefined,
): Key<Request> {
  if (from === undefined) return keyOf(format, undefined);
  if (typeof from !== 'function') {
    throw complaint('ERR_KEY', {
      option: format.name,
      demand: 'given a function of the request',
      value: from,
      remedy: `For example ${shownName(format.name)}((req) => req.user?.id ?? null).`,
    });
  }
  return keyOf(format, (source, limit) => idOfValue(format, toNativePromise(from(source.request)), limit));
}

/** Whether a value is a key, as {@link keyOf} creates it. */
export function isKey(value: unknown): value is Key<never> {
  return isPlainObject(value) && isIdFormat(value['format']);
}

/** Whether a value is an id format: it has a name and a function `canonical`. */
export function isIdFormat(value: unknown): value is IdFormat {
  if (!isPlainObject(value)) return false;
  const { name, canonical } = value;
  return typeof canonical === 'function' && typeof name === 'string' && name !== '';
}

/** Creates a key from an id format and a function that returns canonical ids. */
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
  const [firstIdOf, secondIdOf] = [sourceOf<First>(first), sourceOf<Second>(second)];
  // The key's own format is allowed: its ids have no prefix, and those that look like the fallback's are rejected.
  if (first.format.name.split('|').slice(1).includes(second.format.name)) throw usedTwice(second.format.name);
  const format = fallbackFormat(first.format, second.format);
  const prefix = `${second.format.name}:`;
  return keyOf<First & Second>(format, (source, limit) =>
    andThen(toNativePromise(firstIdOf(source, limit)), (id) =>
      id === null
        ? andThen(toNativePromise(secondIdOf(source, limit)), (other) => (other === null ? null : prefix + other))
        : rejectPrefix(format, prefix, id),
    ),
  );
}

function sourceOf<Request>({ format: { name }, idOf }: Source<Request>): NonNullable<Key<Request>['idOf']> {
  if (idOf !== undefined) return idOf;
  throw new SluiceError(
    'ERR_KEY',
    `needs two keys that get an id from a request. Give ${shownName(name)} a function, e.g. ${shownName(name)}((req) => req.user?.id ?? null).`,
    { path: '.or' },
  );
}

function usedTwice(name: string): SluiceError {
  return new SluiceError(
    'ERR_KEY',
    `needs fallbacks of different formats, but ${shownName(name)} is used already. Get both ids in one function instead: (req) => req.user?.id ?? req.apiKey ?? null.`,
    { path: '.or' },
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

// Otherwise an account named `clientNetwork:203.0.113.7` would spend from that client's bucket.
function rejectPrefix(format: IdFormat, prefix: string, id: string): string {
  if (!id.startsWith(prefix)) return id;
  throw complaint('ERR_ID', {
    option: 'id',
    demand: `an id of ${shownName(format.name)} that does not start with '${shownName(prefix)}', which names the fallback's buckets`,
    value: id,
    remedy: 'If such ids are valid for you, put a prefix before all ids in the function of the key: `user-${id}`.',
    status: 400,
  });
}

/**
 * Limits accounts: your function returns the account of a request. Run the limiter after authentication.
 *
 *     accountId((req: Request) => req.user?.id ?? null)
 *
 * @param from - Returns a string, a safe integer, a bigint, or a promise of one; `null` if the limit does not apply to
 * the request. Omit it if the limit is used only with `limiter.spend`.
 * @param options - `decimal`: whether to accept only unsigned decimal numbers without leading zeros, such as `12345678`.
 * Default: false.
 * @throws {SluiceError} `ERR_KEY` when `from` is not a function, `ERR_OPTION` or `ERR_UNKNOWN_OPTION` for wrong
 * options.
 */
export function accountId<Request = unknown>(
  from?: (request: Request) => Awaitable<IdValue>,
  options?: { readonly decimal?: boolean | undefined },
): Key<Request> {
  return keyFrom(accountIdFormat(options), from);
}

/**
 * Limits by whatever your function gets from a request, such as a tenant, an API key or a name that somebody logs in
 * with. Its ids are texts as those of {@link accountId}, in a format of their own, so that a fallback to an account has
 * other buckets.
 *
 *     by((req: Request) => req.get('X-Tenant') ?? null)
 *
 * @param from - As in {@link accountId}.
 * @param options - `format`: another format of the ids, for example one that takes `c-7` and `C-007` for one id.
 * @throws {SluiceError} `ERR_KEY` when the format is not an id format, or `from` is not a function, `ERR_OPTION` or
 * `ERR_UNKNOWN_OPTION` for wrong options.
 */
export function by<Request = unknown>(
  from?: (request: Request) => Awaitable<IdValue>,
  options: { readonly format?: IdFormat | undefined } = {},
): Key<Request> {
  checkOptions('by', options, ['format']);
  const { format = textFormat('by') } = options;
  if (!isIdFormat(format)) {
    const remedy =
      "For example by((req) => req.user?.id ?? null, { format: { name: 'customerNumber', canonical: (text) => text } }).";
    throw complaint('ERR_KEY', { option: 'by.format', demand: 'an id format', value: format, remedy });
  }
  return keyFrom(format, from);
}

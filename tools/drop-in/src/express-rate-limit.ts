/**
 * A store for `express-rate-limit` 6 to 8, and for what has its interface of stores: `hono-rate-limiter` 0.5, and the
 * routes of `mcpAuthRouter` in `@modelcontextprotocol/sdk`.
 *
 *     app.use(rateLimit({ windowMs: 60_000, limit: 100, store: rateLimitStore(redisStore({ url })) }));
 *
 * @module
 */
import { SluiceError, type Awaitable, type Decision, type Store } from '@sluice/core';
import { systemTime } from '@sluice/core/kit';
import { countsOf, readOf, type Counts } from './numbers/counts.ts';
import type { WindowNumbers } from './numbers/bucket-numbers.ts';
import { dropInOptions, type DropInOptions } from './numbers/drop-in-options.ts';
import { givenLimit, givenNumbers } from './numbers/given-numbers.ts';
import { PeerBuckets } from './numbers/peer-buckets.ts';
import { TakenTokens, type Taken } from './numbers/taken-tokens.ts';

/** What a limiter passes to `init` of its store, as far as the store uses it. */
export interface RateLimitConfig {
  /** Milliseconds. */
  readonly windowMs: number;
  /** Requests in a window. As a function it needs the option `limit` of the store. */
  readonly limit?: unknown;
  /** The same in versions before 7. */
  readonly max?: unknown;
  /** With this or the next one, the limiter calls `decrement` after some responses. */
  readonly skipFailedRequests?: boolean | undefined;
  /** See `skipFailedRequests`. */
  readonly skipSuccessfulRequests?: boolean | undefined;
  /** `slowDown` of `express-slow-down`. */
  readonly requestPropertyName?: string | undefined;
  /** `limit: false` of `express-slow-down`, and of limiters that deny all without a warning. */
  readonly validate?: unknown;
  /** That of the limiter has four parameters, that of `express-slow-down` three. */
  readonly handler?: unknown;
}

/** What `increment` and `get` return. */
export interface RateLimitInfo {
  /** Tokens taken from the bucket, the request's own included; `limit + 1` for a request that is denied. */
  readonly totalHits: number;
  /** When the bucket is full again; for a request that is denied, when it can pass. */
  readonly resetTime: Date;
}

/** The options of {@link rateLimitStore}. */
export interface RateLimitStoreOptions extends DropInOptions {
  /**
   * The limit of a key, where `limit` of the limiter is a function: the same number, from the key. Without it such a limiter
   * is an error, because a store is not told what the function returns.
   */
  readonly limit?: number | ((key: string) => Awaitable<number>) | undefined;
}

/** A `Store` of `express-rate-limit`. */
export interface RateLimitStore {
  /** Whether no other store counts its keys: it has a memory store of its own. */
  readonly localKeys: boolean;
  /** What its keys begin with, for the checks of the limiter. */
  readonly prefix: string;
  /**
   * Called by the limiter with its options.
   *
   * @throws {SluiceError} `ERR_OPTION` for numbers that can't be decided by, `ERR_LIMIT_IN_USE` for other numbers than
   * another limiter has under this name. `increment` then rejects with the same error, and reading `resetKey` throws it:
   * version 8 logs what `init` throws and serves all the same, but reads `resetKey` before its call returns.
   */
  init(config: RateLimitConfig): void;
  /** Decides a request, and takes its token if it is there. A denied request takes nothing. */
  increment(key: string): Promise<RateLimitInfo>;
  /**
   * Gives back what is left of what the request took that calls it, once; nothing for a denied request. Where the asynchronous
   * context of the request is lost, as by a parser of uploads: what a denied request of the key would, otherwise the newest that
   * was not given back.
   */
  decrement(key: string): Promise<void>;
  /** Fills a bucket. */
  readonly resetKey: (key: string) => Promise<void>;
  /**
   * Returns what `increment` would count from; `undefined` for a full bucket. As many hits as the limit mean that the next
   * request is denied. Takes nothing.
   */
  get(key: string): Promise<RateLimitInfo | undefined>;
  /** Empties a memory store of its own. Rejects where a store was passed, which can't find all keys of one limiter. */
  resetAll(): Promise<void>;
  /** Ends the use of the store. One that was passed stays open. */
  shutdown(): Promise<void>;
}

/**
 * Creates a store for a limiter of `express-rate-limit` on a store of Sluice. `limit` requests per `windowMs` become a token
 * bucket: `limit` pass at once, and one more each time that `windowMs / limit` has passed. A denied client is told the exact
 * wait. When the store of Sluice can't answer, the failure policy decides; under `closed`, requests end with 503.
 *
 * @param options - A store, or options of a limiter, such as `{ store, name: 'login' }`. Default: a memory store of its own.
 * @throws {SluiceError} If an option is wrong.
 */
export function rateLimitStore(options: Store | RateLimitStoreOptions = {}): RateLimitStore {
  return new SluiceStore(dropInOptions<RateLimitStoreOptions>('rateLimitStore', options, ['limit']));
}

const OWN_LIMIT = 'rateLimitStore.limit';
const NAMES = { limit: 'limit', window: 'windowMs', unitMs: 1 };

/** The number of a limiter, or a function that gives it for a key. */
type LimitOfKey = number | ((key: string) => Awaitable<number>);

/** A limiter that uses a store. */
interface Served {
  readonly limit: LimitOfKey;
  readonly windowMs: number;
  /** The numbers of all keys; undefined where a function gives the limit of each. */
  readonly fixed: WindowNumbers | undefined;
  readonly buckets: PeerBuckets;
}

class SluiceStore implements RateLimitStore {
  readonly localKeys: boolean;
  readonly prefix: string;
  readonly #options: RateLimitStoreOptions & { readonly name: string };
  readonly #taken: TakenTokens;
  #hasWarned = false;
  #givesBack = false;
  #served: Served | SluiceError = notBegun();
  /** Why the limiter was refused. */
  #refusal: SluiceError | undefined;

  constructor(options: RateLimitStoreOptions & { readonly name: string }) {
    this.#options = options;
    this.localKeys = options.store === undefined;
    this.prefix = `express-rate-limit.${options.name}:`;
    this.#taken = new TakenTokens(options.time ?? systemTime);
    if (typeof options.limit !== 'function' && options.limit !== undefined) givenLimit(OWN_LIMIT, options.limit);
  }

  init(config: RateLimitConfig): void {
    try {
      this.#served = this.#servedFor(config);
      this.#givesBack ||= config.skipFailedRequests !== false || config.skipSuccessfulRequests !== false;
    } catch (error) {
      this.#refusal = error as SluiceError;
      throw error;
    }
  }

  #servedFor(config: RateLimitConfig): Served {
    const limit = limitOf(this.#options.limit, config);
    const isFixed = typeof limit === 'number';
    const numbers = givenNumbers(NAMES, isFixed ? limit : Infinity, config.windowMs);
    const served = this.#served;
    // A store may serve two limiters of equal numbers. It is not told which of them calls.
    if (!(served instanceof SluiceError)) {
      if (served.windowMs === numbers.windowMs && served.limit === limit) return served;
      throw otherNumbers(this.#options.name, served, numbers);
    }
    const { windowMs } = numbers;
    const fixed = isFixed ? numbers : undefined;
    return { limit, windowMs, fixed, buckets: this.#bucketsOf({ windowMs, fixed }) };
  }

  #bucketsOf({ windowMs, fixed }: Pick<Served, 'windowMs' | 'fixed'>): PeerBuckets {
    return new PeerBuckets(`express-rate-limit.${this.#options.name}.${windowText(windowMs)}`, this.#options, fixed);
  }

  // As an async function does it, with one promise instead of two where the store returns one.
  increment(key: string): Promise<RateLimitInfo> {
    try {
      const served = this.#ready();
      const { buckets, fixed } = served;
      const id = buckets.idOf(key);
      // Before anything is awaited, so that what follows in the caller has it.
      const taken = this.#givesBack ? this.#taken.add(id, served.windowMs) : undefined;
      if (fixed === undefined) return takeLater(served, id, taken, askedNumbers(served, key));
      return Promise.resolve(take(served, id, taken, fixed));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async decrement(key: string): Promise<void> {
    const { buckets } = this.#ready();
    const decision = await this.#taken.takeBack(buckets.idOf(key));
    if (decision !== undefined) return buckets.refund(decision);
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    buckets.warn(UNKNOWN_REQUEST);
  }

  get resetKey(): RateLimitStore['resetKey'] {
    if (this.#refusal !== undefined) throw this.#refusal;
    return this.#reset;
  }

  readonly #reset = async (key: string): Promise<void> => {
    const { buckets } = this.#ready();
    const id = buckets.idOf(key);
    this.#taken.forget(id);
    await buckets.reset(id);
  };

  async get(key: string): Promise<RateLimitInfo | undefined> {
    const served = this.#ready();
    const numbers = served.fixed ?? (await askedNumbers(served, key));
    const counts = readOf(await served.buckets.check(served.buckets.idOf(key), numbers), numbers);
    return counts.hits === 0 ? undefined : infoOf(served, counts);
  }

  async resetAll(): Promise<void> {
    const served = this.#ready();
    if (!this.localKeys) throw new SluiceError('ERR_OPTION', NOT_ALL);
    // Before it is closed, so that what is incremented meanwhile is decided.
    this.#served = { ...served, buckets: this.#bucketsOf(served) };
    this.#taken.forget();
    await served.buckets.close();
  }

  async shutdown(): Promise<void> {
    if (!(this.#served instanceof SluiceError)) await this.#served.buckets.close();
  }

  #ready(): Served {
    const served = this.#refusal ?? this.#served;
    if (served instanceof SluiceError) throw served;
    return served;
  }
}

const NOT_ALL =
  'resetAll is not possible: a store that was passed does not know the keys of one limiter. Use resetKey(key); in tests make a new store.';

const UNKNOWN_REQUEST =
  'A store was asked to decrement a key of which nothing is left to give back. Nothing was given back.';

function notBegun(): SluiceError {
  return new SluiceError(
    'ERR_OPTION',
    'A store of rateLimitStore was used before `init`. Pass it to a limiter as its `store`: the limiter calls `init`.',
  );
}

async function askedNumbers({ limit, windowMs }: Served, key: string): Promise<WindowNumbers> {
  return { limit: givenLimit(OWN_LIMIT, await (typeof limit === 'function' ? limit(key) : limit)), windowMs };
}

function take(served: Served, id: string, taken: Taken | undefined, numbers: WindowNumbers): Awaitable<RateLimitInfo> {
  const decision = served.buckets.spend(id, numbers);
  if (taken !== undefined) taken.decision = decision;
  return decision instanceof Promise ? tellLater(served, decision, numbers) : tell(served, decision, numbers);
}

// Functions of their own, so that the path of a store in memory creates no closure.
function takeLater(
  served: Served,
  id: string,
  taken: Taken | undefined,
  asked: Promise<WindowNumbers>,
): Promise<RateLimitInfo> {
  return asked.then((numbers) => take(served, id, taken, numbers));
}

function tellLater(served: Served, decided: Promise<Decision>, numbers: WindowNumbers): Promise<RateLimitInfo> {
  return decided.then((decision) => tell(served, decision, numbers));
}

function tell(served: Served, decision: Decision, numbers: WindowNumbers): RateLimitInfo {
  return infoOf(served, countsOf(decision, numbers));
}

function infoOf({ buckets }: Served, { hits, resetMs }: Counts): RateLimitInfo {
  return { totalHits: hits, resetTime: buckets.dateAfter(resetMs) };
}

/** @param own - The option of the store. */
function limitOf(own: LimitOfKey | undefined, config: RateLimitConfig): LimitOfKey {
  const theirs = config.limit ?? config.max;
  if (typeof theirs === 'function' || theirs === undefined) {
    if (own === undefined) throw new SluiceError('ERR_OPTION', UNKNOWN_LIMIT);
    return own;
  }
  const limit = givenLimit(NAMES.limit, theirs);
  if (limit === 0 && slowsDown(config)) throw new SluiceError('ERR_OPTION', NO_LIMIT);
  if (own !== undefined && own !== limit) throw new SluiceError('ERR_OPTION', TWO_LIMITS);
  return limit;
}

function slowsDown({ requestPropertyName, validate, handler }: RateLimitConfig): boolean {
  if (requestPropertyName === 'slowDown') return true;
  const isUnchecked = (validate as { readonly limit?: unknown } | null | undefined)?.limit === false;
  return isUnchecked && !(typeof handler === 'function' && handler.length === 4);
}

const UNKNOWN_LIMIT =
  '`limit` of the limiter is a function, whose result a store is not told. Give the store the same numbers: rateLimitStore({ store, limit: (key) => … }).';
const TWO_LIMITS =
  '`limit` of rateLimitStore is only for a limiter whose `limit` is a function. Here the limiter has a number: leave out that of the store.';
const NO_LIMIT =
  '`limit` must not be 0 with express-slow-down, or with `validate.limit: false` and a `handler` of three parameters. express-slow-down passes 0 and counts the requests above it, but a store of token buckets counts only requests that pass. To delay requests, use a limit with `maxWait`; to deny all, a negative limit.';

function otherNumbers(name: string, one: Served, other: WindowNumbers): SluiceError {
  const text = ({ limit, windowMs }: { readonly limit: unknown; readonly windowMs: number }): string =>
    `${typeof limit === 'number' ? limit : 'a function'} in ${windowMs} ms`;
  return new SluiceError(
    'ERR_LIMIT_IN_USE',
    `One store can not serve limiters of different numbers: ${text(one)}, and here ${text(other)}. Make a store for each, with a \`name\` of its own; "${name}" is in use.`,
  );
}

/** As a part of a name. */
function windowText(windowMs: number): string {
  return Number.isInteger(windowMs) ? `${windowMs}ms` : `${Math.floor(windowMs * 1000)}us`;
}

/**
 * A store for `@fastify/rate-limit` 11.
 *
 *     await app.register(rateLimit, { max: 100, timeWindow: '1 minute', store: rateLimitStore(redisStore({ url })) });
 *
 * @module
 */
import { SluiceError, type Awaitable, type Decision, type Store } from '@sluice/core';
import type { WindowNumbers } from './numbers/bucket-numbers.ts';
import { countsOf, readOf, type Counts } from './numbers/counts.ts';
import { dropInOptions, type DropInOptions } from './numbers/drop-in-options.ts';
import { givenNumbers } from './numbers/given-numbers.ts';
import { PeerBuckets } from './numbers/peer-buckets.ts';

/** The options of {@link rateLimitStore}. */
export interface RateLimitStoreOptions extends DropInOptions {}

/** What a store calls back with. */
export interface RateLimitState {
  /** Tokens taken from the bucket, the request's own included; more than `max` for a request that is denied. */
  readonly current: number;
  /** Until the bucket is full again; for a request that is denied, until it can pass. Whole milliseconds. */
  readonly ttl: number;
}

/** Called once, with an error or a state. */
export type RateLimitCallback = (error: Error | null, state?: RateLimitState) => void;

/** A `store` of `@fastify/rate-limit`, of one registration or route. */
export interface RateLimitStore {
  /**
   * Decides a request, and takes its token if it is there. A denied request takes nothing.
   *
   * @param timeWindow - Milliseconds.
   */
  incr(key: string, callback: RateLimitCallback, timeWindow: number, max: number): void;
  /**
   * Calls back with what `incr` would count from, or for a request that it would deny with what it would call back with. Takes
   * nothing.
   */
  read(key: string, callback: RateLimitCallback, timeWindow: number, max: number): void;
  /**
   * Returns the store of a route, whose buckets are its own.
   *
   * @throws {SluiceError} `ERR_OPTION` for `continueExceeding` and `exponentialBackoff`.
   */
  child(route: object): RateLimitStore;
}

/** The class that the option `store` of `@fastify/rate-limit` takes. */
export type RateLimitStoreClass = new (registration: object) => RateLimitStore;

/**
 * Creates a class of stores for `@fastify/rate-limit` on a store of Sluice. `max` requests per `timeWindow` become a token
 * bucket: `max` pass at once, and one more each time that `timeWindow / max` has passed. A denied client is told the exact
 * wait. With `ban`, a second bucket counts its denials. When the store of Sluice can't answer, the failure policy decides;
 * under `closed`, requests end with 503.
 *
 * @param options - A store, or options of a limiter, such as `{ store, name: 'login' }`. Default: a memory store of its own.
 * @throws {SluiceError} If an option is wrong.
 */
export function rateLimitStore(options: Store | RateLimitStoreOptions = {}): RateLimitStoreClass {
  const { name, ...settings } = dropInOptions<RateLimitStoreOptions>('rateLimitStore', options);
  const hits = new PeerBuckets(`fastify-rate-limit.${name}`, settings);
  const bans = new PeerBuckets(`fastify-rate-limit-bans.${name}`, { ...settings, store: hits.store });
  const parts: StoreParts = { hits, bans, handlers: 0 };
  return class extends SluiceStore {
    constructor(config: RouteConfig) {
      parts.first ??= config;
      super(parts, config, config.max === parts.first.max ? '' : `max.${String(Number(config.max))}`);
    }
  };
}

/** What a registration or a route passes to its store, as far as the store uses it. Its types do not say so. */
interface RouteConfig {
  /** Denials of a client after which it is banned; -1 for never. */
  readonly ban?: number | undefined;
  /** An error: it makes denied requests count. */
  readonly continueExceeding?: boolean | undefined;
  /** An error: it makes denied requests count. */
  readonly exponentialBackoff?: boolean | undefined;
  /** Requests in a window, or a function of the request. Registrations that differ in it have buckets of their own. */
  readonly max?: unknown;
  /** Routes of one group have their buckets together. */
  readonly groupId?: string | undefined;
  /** The route, of a child; without a url for a handler of `app.rateLimit` or `app.createRateLimit`. */
  readonly routeInfo?: { readonly method?: string | readonly string[]; readonly url?: string } | undefined;
}

/** Whether a request takes a token. */
type Call = 'spend' | 'check';

const NAMES = { limit: 'max', window: 'timeWindow', unitMs: 1 };

/** What all stores of one class share. */
interface StoreParts {
  readonly hits: PeerBuckets;
  readonly bans: PeerBuckets;
  /** How many handlers there are. Processes of one program make them in the same order. */
  handlers: number;
  /** The first registration. */
  first?: RouteConfig;
}

class SluiceStore implements RateLimitStore {
  readonly #parts: StoreParts;
  readonly #hits: PeerBuckets;
  readonly #bans: PeerBuckets;
  readonly #ban: number;
  /** The route, group or handler, so that each has buckets of its own. */
  readonly #owner: string;
  /** The window of the last request, and what the ids of its buckets begin with. */
  #windowMs = Number.NaN;
  #prefix = '';

  constructor(parts: StoreParts, config: RouteConfig, owner: string) {
    assertTakesNothing(config);
    this.#parts = parts;
    this.#hits = parts.hits;
    this.#bans = parts.bans;
    this.#ban = config.ban ?? -1;
    this.#owner = owner;
  }

  incr(key: string, callback: RateLimitCallback, timeWindow: number, max: number): void {
    answer(callback, () => this.#ask('spend', key, givenNumbers(NAMES, max, timeWindow)));
  }

  read(key: string, callback: RateLimitCallback, timeWindow: number, max: number): void {
    answer(callback, () => this.#ask('check', key, givenNumbers(NAMES, max, timeWindow)));
  }

  child(config: RouteConfig): RateLimitStore {
    return new SluiceStore(this.#parts, config, ownerOf(config, this.#parts));
  }

  #ask(call: Call, key: string, numbers: WindowNumbers): Awaitable<Counts> {
    const id = this.#idOf(key, numbers);
    const decided = this.#hits[call](id, numbers);
    return decided instanceof Promise
      ? decided.then((decision) => this.#counted(call, id, decision, numbers))
      : this.#counted(call, id, decided, numbers);
  }

  /** Counts a denial of a client that may be banned: the limiter bans one whose `current` is more than `ban` above `max`. */
  #counted(call: Call, id: string, decision: Decision, numbers: WindowNumbers): Awaitable<Counts> {
    if (decision.allowed && call === 'check') return readOf(decision, numbers);
    const counts = countsOf(decision, numbers);
    return decision.allowed || this.#ban < 1 ? counts : this.#banned(call, id, counts, numbers);
  }

  async #banned(call: Call, id: string, counts: Counts, { windowMs }: WindowNumbers): Promise<Counts> {
    const numbers = { limit: this.#ban, windowMs };
    const denials = countsOf(await this.#bans[call](id, numbers), numbers);
    return { ...counts, hits: counts.hits - 1 + denials.hits };
  }

  #idOf(key: string, { windowMs }: WindowNumbers): string {
    if (windowMs !== this.#windowMs) {
      this.#windowMs = windowMs;
      this.#prefix = `${windowMs}:${this.#owner}:`;
    }
    return this.#prefix + this.#hits.idOf(key);
  }
}

function ownerOf({ groupId, routeInfo: { method = '', url } = {} }: RouteConfig, parts: StoreParts): string {
  if (groupId !== undefined) return `group.${encodeURIComponent(groupId)}`;
  return url === undefined ? `handler.${++parts.handlers}` : encodeURIComponent(`${String(method)}${url}`);
}

/** Calls back at once where the store answers at once. */
function answer(callback: RateLimitCallback, decide: () => Awaitable<Counts>): void {
  let counts: Awaitable<Counts>;
  try {
    counts = decide();
  } catch (error) {
    return callback(error as Error);
  }
  if (counts instanceof Promise) counts.then((later) => callback(null, stateOf(later)), callback);
  else callback(null, stateOf(counts));
}

function stateOf({ hits, resetMs }: Counts): RateLimitState {
  return { current: hits, ttl: Math.ceil(resetMs) };
}

function assertTakesNothing(config: RouteConfig): void {
  const option = (['continueExceeding', 'exponentialBackoff'] as const).find((name) => config[name] === true);
  if (option === undefined) return;
  throw new SluiceError(
    'ERR_OPTION',
    `must not be true: a denied request takes nothing from a token bucket, so it can not make the wait longer. To keep out clients that go on, use \`ban\`.`,
    { path: option },
  );
}

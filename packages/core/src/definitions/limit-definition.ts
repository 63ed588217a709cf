import type { Kinds } from '../kinds/index.ts';
import type { ConcurrencyNumbers } from '../kinds/concurrency/slot-terms.ts';
import type { LoadNumbers } from '../kinds/load/load-kind.ts';
import type { QuotaNumbers } from '../kinds/quota/quota.ts';
import type { RateOptions } from '../kinds/rate/rate.ts';
import type { Key } from '../keys/key.ts';
import type { FailurePolicy } from '../limits/failure-policy.ts';

/** What every limit has, of whatever kind it is. */
export interface LimitSettings<Request = unknown> {
  /** How the limit gets its id from a request: `ipAddress()`, `clientNetwork()`, `accountId((req) => …)`. */
  readonly key: Key<Request>;
  /** What the limit does while the store can't answer. Default: the limiter's `failure.onFailure`. */
  readonly onFailure?: FailurePolicy | undefined;
  /** Disables the limit: it lets every request through and counts none. Default: false. */
  readonly disabled?: boolean | undefined;
  /**
   * Hides the limit from clients: it decides as usual, but header fields and problem details do not mention it.
   * Default: false.
   */
  readonly hidden?: boolean | undefined;
}

/** The options of a kind, or of each of several. */
type OptionsOf<Kind> = Kind extends { define(options: infer Options, ...of: never): unknown } ? Options : never;

type KeysOf<Options> = Options extends unknown ? keyof Options : never;

/** Options without those that only other kinds have. */
type OfOneKind<Options> = Options & {
  readonly [Name in Exclude<KeysOf<OptionsOf<Kinds>>, keyof Options>]?: undefined;
};

/** Options of a limit, for each of several kinds. */
type Definition<Request, Options> = Options extends LoadNumbers
  ? LoadSettings<Request> & OfOneKind<Options>
  : LimitSettings<Request> & OfOneKind<Options>;

/** The settings of a load limit. */
interface LoadSettings<Request> extends Omit<LimitSettings<Request>, 'key' | 'onFailure' | 'hidden'> {
  /** What distinguishes clients: for about a minute, a client is either denied or not. Default: `clientNetwork()`. */
  readonly key?: Key<Request> | undefined;
  readonly onFailure?: undefined;
  readonly hidden?: undefined;
}

/** A limit by a rate. */
export type RateDefinition<Request = unknown> = Definition<Request, RateOptions>;

/** A quota and a concurrency limit are always exact. */
interface AlwaysExact {
  readonly exact?: true | undefined;
}

/** A quota: `count` tokens in each calendar period, which all come back at its end. */
export type QuotaDefinition<Request = unknown> = Definition<Request, QuotaNumbers & AlwaysExact>;

/** A concurrency limit: at most `concurrency` requests of an id are in progress at the same time. */
export type ConcurrencyDefinition<Request = unknown> = Definition<Request, ConcurrencyNumbers & AlwaysExact>;

/**
 * A load limit: it denies a part of the requests while this process has too much to do, with the status 503. It counts
 * nothing and asks no store, and header fields never mention it.
 */
export type LoadDefinition<Request = unknown> = Definition<Request, LoadNumbers>;

/** A limit, of the kind that its options show: a rate, a quota, a concurrency limit or a load limit. */
export type LimitDefinition<Request = unknown> = Definition<Request, OptionsOf<Kinds>>;

/** Limits by name. A name is `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters, and unique ignoring case. */
export type LimitDefinitions<Request = unknown, Name extends string = string> = {
  readonly [Each in Name]: LimitDefinition<Request>;
};

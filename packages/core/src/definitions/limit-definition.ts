import type { Kinds } from '../kinds/index.ts';
import type { Load } from '../kinds/load/load-kind.ts';
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
export type OptionsOf<Kind> = Kind extends { define(options: infer Options, ...of: never): unknown } ? Options : never;

type KeysOf<Options> = Options extends unknown ? keyof Options : never;

/** The options of a kind, or of each of several, without those that only other kinds have. */
export type OfOneKind<Options> = Options extends unknown
  ? Options & { readonly [Name in Exclude<KeysOf<OptionsOf<Kinds>>, keyof Options>]?: undefined }
  : never;

/** Options of a limit, for each of several kinds. */
type Definition<Request, Options> = Options extends Load
  ? LoadSettings<Request> & OfOneKind<Options>
  : LimitSettings<Request> & OfOneKind<Options>;

/** The settings of a load limit. */
interface LoadSettings<Request> extends Omit<LimitSettings<Request>, 'key' | 'onFailure' | 'hidden'> {
  /** What distinguishes clients: for about a minute, a client is either denied or not. Default: `clientNetwork()`. */
  readonly key?: Key<Request> | undefined;
  readonly onFailure?: undefined;
  readonly hidden?: undefined;
}

/** A limit, of the kind that its options show: a rate, a quota, a concurrency limit or a load limit. */
export type LimitDefinition<Request = unknown> = Definition<Request, OptionsOf<Kinds>>;

/** Limits by name. A name is `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters, and unique ignoring case. */
export type Limits<Request = unknown, Name extends string = string> = {
  readonly [Each in Name]: LimitDefinition<Request>;
};

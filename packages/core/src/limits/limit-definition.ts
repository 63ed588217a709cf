import type { Key } from '../keys/key.ts';
import type { AtMost } from '../rule/at-most.ts';
import type { LimitNumbers } from '../rule/rate.ts';
import type { BorrowDefinition } from './borrowing.ts';
import type { ConcurrencyNumbers } from './concurrency.ts';
import type { FailurePolicy } from './failure-policy.ts';
import type { LoadNumbers } from './load-limit.ts';
import type { Exactness } from './overshoot.ts';
import type { QuotaNumbers } from './quota.ts';

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

/** The options of a rate: `count` tokens refill every `period`, and a bucket contains at most `burst`. */
interface RateOptions extends LimitNumbers, Exactness {
  /**
   * The most tokens that may be taken in any window of a length: `{ 1000: '1h' }`. It changes no decision. Numbers of
   * the limit and of its overrides that allow more are an error: burst + maxDebt + window / T must be at most that
   * number.
   */
  readonly atMost?: AtMost | undefined;
  /** How the limit borrows from a pool when its own tokens are used up. Its own numbers are then the assured rate. */
  readonly borrow?: BorrowDefinition | undefined;
}

/** A quota and a concurrency limit are always exact. */
interface AlwaysExact {
  readonly exact?: true | undefined;
}

/** The options that other kinds of limits have. */
type OtherKindsThan<Options> = {
  readonly [
    Name in Exclude<
      keyof RateOptions | keyof QuotaNumbers | keyof ConcurrencyNumbers | keyof LoadNumbers,
      keyof Options
    >
  ]?: undefined;
};

/** A limit by a rate. */
export interface RateDefinition<Request = unknown>
  extends LimitSettings<Request>, RateOptions, OtherKindsThan<RateOptions> {}

/** A quota: `count` tokens in each calendar period, which all come back at its end. */
export interface QuotaDefinition<Request = unknown>
  extends LimitSettings<Request>, QuotaNumbers, AlwaysExact, OtherKindsThan<QuotaNumbers & AlwaysExact> {}

/** A concurrency limit: at most `concurrency` requests of an id are in progress at the same time. */
export interface ConcurrencyDefinition<Request = unknown>
  extends LimitSettings<Request>, ConcurrencyNumbers, AlwaysExact, OtherKindsThan<ConcurrencyNumbers & AlwaysExact> {}

/**
 * A load limit: it denies a part of the requests while this process has too much to do, with the status 503. It counts
 * nothing and asks no store, and header fields never mention it.
 */
export interface LoadDefinition<Request = unknown>
  extends Pick<LimitSettings<Request>, 'disabled'>, LoadNumbers, OtherKindsThan<LoadNumbers> {
  /** What distinguishes clients: for about a minute, a client is either denied or not. Default: `clientNetwork()`. */
  readonly key?: Key<Request> | undefined;
  readonly onFailure?: undefined;
  readonly hidden?: undefined;
}

/** A limit, of the kind that its options show: a rate, a quota, a concurrency limit or a load limit. */
export type LimitDefinition<Request = unknown> =
  RateDefinition<Request> | QuotaDefinition<Request> | ConcurrencyDefinition<Request> | LoadDefinition<Request>;

/** Limits by name. A name is `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters, and unique ignoring case. */
export type LimitDefinitions<Request = unknown, Name extends string = string> = {
  readonly [Each in Name]: LimitDefinition<Request>;
};

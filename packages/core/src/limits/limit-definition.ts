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

/** A limit by a rate: `count` tokens refill every `period`, and a bucket contains at most `burst`. */
export interface RateDefinition<Request = unknown> extends LimitSettings<Request>, LimitNumbers, Exactness {
  /**
   * The most tokens that may be taken in any window of a length: `{ 1000: '1h' }`. It changes no decision. Numbers of
   * the limit and of its overrides that allow more are an error: burst + maxDebt + window / T must be at most that
   * number.
   */
  readonly atMost?: AtMost | undefined;
  /** How the limit borrows from a pool when its own tokens are used up. Its own numbers are then the assured rate. */
  readonly borrow?: BorrowDefinition | undefined;
  readonly per?: undefined;
  readonly timeZone?: undefined;
  readonly anchor?: undefined;
  readonly warnAt?: undefined;
  readonly concurrency?: undefined;
  readonly lease?: undefined;
  readonly scope?: undefined;
  readonly block?: undefined;
  readonly load?: undefined;
}

/** A quota: `count` tokens in each calendar period, which all come back at its end. */
export interface QuotaDefinition<Request = unknown> extends LimitSettings<Request>, QuotaNumbers {
  readonly burst?: undefined;
  readonly period?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly atMost?: undefined;
  readonly borrow?: undefined;
  readonly concurrency?: undefined;
  readonly lease?: undefined;
  readonly scope?: undefined;
  readonly block?: undefined;
  readonly load?: undefined;
  readonly overshoot?: undefined;
  /** A quota is always exact. */
  readonly exact?: true | undefined;
}

/** A concurrency limit: at most `concurrency` requests of an id are in progress at the same time. */
export interface ConcurrencyDefinition<Request = unknown> extends LimitSettings<Request>, ConcurrencyNumbers {
  readonly burst?: undefined;
  readonly count?: undefined;
  readonly period?: undefined;
  readonly per?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly atMost?: undefined;
  readonly borrow?: undefined;
  readonly timeZone?: undefined;
  readonly anchor?: undefined;
  readonly warnAt?: undefined;
  readonly load?: undefined;
  readonly overshoot?: undefined;
  /** A concurrency limit is always exact. */
  readonly exact?: true | undefined;
}

/**
 * A load limit: it denies a part of the requests while this process has too much to do, with the status 503. It counts
 * nothing and asks no store, and header fields never mention it.
 */
export interface LoadDefinition<Request = unknown>
  extends Omit<LimitSettings<Request>, 'key' | 'onFailure' | 'hidden'>, LoadNumbers {
  /** What distinguishes clients: for about a minute, a client is either denied or not. Default: `clientNetwork()`. */
  readonly key?: Key<Request> | undefined;
  readonly onFailure?: undefined;
  readonly hidden?: undefined;
  readonly burst?: undefined;
  readonly count?: undefined;
  readonly period?: undefined;
  readonly per?: undefined;
  readonly concurrency?: undefined;
  readonly maxDebt?: undefined;
  readonly maxWait?: undefined;
  readonly atMost?: undefined;
  readonly borrow?: undefined;
  readonly timeZone?: undefined;
  readonly anchor?: undefined;
  readonly warnAt?: undefined;
  readonly lease?: undefined;
  readonly scope?: undefined;
  readonly block?: undefined;
  readonly overshoot?: undefined;
  readonly exact?: undefined;
}

/** A limit, of the kind that its options show: a rate, a quota, a concurrency limit or a load limit. */
export type LimitDefinition<Request = unknown> =
  RateDefinition<Request> | QuotaDefinition<Request> | ConcurrencyDefinition<Request> | LoadDefinition<Request>;

/** Limits by name. A name is `[A-Za-z][A-Za-z0-9_.-]*`, at most 64 characters, and unique ignoring case. */
export type LimitDefinitions<Request = unknown, Name extends string = string> = {
  readonly [Each in Name]: LimitDefinition<Request>;
};

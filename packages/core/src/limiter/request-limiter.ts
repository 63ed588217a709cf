import type { Awaitable } from '../async/awaitable.ts';
import type { ClientAddressFinder } from '../client/client-address.ts';
import type { Decision } from '../decision/decision.ts';
import type { BucketState, Result } from '../decision/result.ts';
import type { EventSink } from '../events/event.ts';
import type { Store } from '../store/store.ts';
import type { Time } from '../time/time.ts';
import type { WaitEnd, Leave } from './queued-decisions.ts';
import type { PreparedLimits, UseInput } from './prepared-limits.ts';
import type { ReceivedRequest } from './setup-watch.ts';

/** A cost that became known after the decision on a request. */
export interface LateCharge {
  readonly cost: number;
  /** The framework's request, for `overrides` functions. */
  readonly request?: unknown;
}

/** What a limiter uses of a request that was decided. */
export interface DecidedRequest<Request> extends ReceivedRequest {
  /** The framework's request. */
  readonly request: Request;
}

/**
 * All that a middleware needs from a limiter. The limiter makes transactions, decides them and corrects their costs; a
 * middleware only finds out what a request asks for.
 */
export interface RequestLimiter<Request = unknown> {
  /** The names of all limits, in the order of their definition. */
  readonly limitNames: readonly string[];
  readonly clientAddress: ClientAddressFinder;
  /** Whether any proxy is trusted to name its clients. */
  readonly trustsProxies: boolean;
  readonly emit: EventSink;
  readonly time: Time;
  /** Where the buckets of the limiter are. */
  readonly store: Store;
  /**
   * Checks that a limit exists.
   *
   * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`; `ERR_CLOSED` after `close`.
   */
  assertLimit(name: string): void;
  /**
   * Prepares the limits that one middleware uses. From then on, `replace` rejects limits with which they are not valid.
   *
   * @param call - What is done for each request: with `check`, nothing is taken. Default: `spend`.
   * @throws {SluiceError} `ERR_UNKNOWN_LIMIT`, `ERR_KEY` or `ERR_COST_OVER_BURST`; `ERR_OPTION` or
   * `ERR_DUPLICATE_BUCKET` for limits that borrow and can't be decided in their mode, or together, and for concurrency
   * limits and load limits with the mode `charge` or a `settle` function.
   */
  prepare(uses: readonly UseInput<Request>[], call?: 'spend' | 'check'): PreparedLimits<Request>;
  /**
   * Takes note of the decision on a request: warns of a setup that limits nobody, and reports to the limiter's own
   * `onDecision`.
   */
  noteRequest(decided: DecidedRequest<Request>, decision: Decision, shadow: boolean): void;
  /** Gives back what a decision took, see `Limiter.refund`. */
  refund(decision: Decision): Awaitable<readonly BucketState[]>;
  /**
   * Checks that a limit can be charged.
   *
   * @throws {SluiceError} `ERR_OPTION` for a concurrency limit or a load limit, `ERR_UNKNOWN_LIMIT`, `ERR_CLOSED` after `close`.
   */
  assertCharged(name: string): void;
  /** Charges the buckets of results, but not those of concurrency limits and load limits. Their ids are canonical already, so they are not validated again. */
  chargeResults(results: readonly Result[], charge: LateCharge): Awaitable<readonly BucketState[]>;
  /**
   * Corrects the cost of a decision at one of its limits: refunds the surplus or charges the rest. When the store can't
   * answer, the limiter emits an event. A `spend-only` that did not fit took nothing, and is not charged afterwards
   * either.
   *
   * Rejects with `ERR_CLOSED` or `ERR_UNKNOWN_LIMIT` when the limiter was closed or the limit removed meanwhile.
   */
  settleResult(decision: Decision, result: Result, charge: LateCharge): Promise<void>;
  /** Lets an allowed decision wait for its delay, see `QueuedDecisions`. */
  delay(decision: Decision, end: (how: WaitEnd) => void): Leave;
  /** Registers work after a request that `close` must wait for. Returns it unchanged. */
  trackWork<T>(work: Awaitable<T>): Awaitable<T>;
}

// The room events: events, and the log that omits repeated lines.
import type { Channel } from 'node:diagnostics_channel';
import { channel } from '../runtime/channel.ts';

/**
 * Something that an operator may want to know. `message` describes what happened and what to do. The log line is
 * `Sluice: ` and the message.
 */
export type LimiterEvent =
  /** The store stopped answering. From now on each limit follows its failure policy. */
  | { readonly type: 'store-failing'; readonly cause: unknown; readonly message: string }
  /** The store answers again and decides. `outageMs` counts from the first failure of the outage. */
  | { readonly type: 'store-recovered'; readonly outageMs: number; readonly message: string }
  /**
   * One bucket in the store is broken, for example because a foreign value is stored under its key. The store itself
   * works.
   */
  | { readonly type: 'bucket-broken'; readonly count: number; readonly cause: unknown; readonly message: string }
  /** Refunds or charges were lost because the store could not answer. */
  | {
      readonly type: 'refund-lost' | 'charge-lost';
      /**
       * The number of lost refunds or charges since the last such event. Reported at once, then at most once a minute,
       * and at the end of an outage.
       */
      readonly count: number;
      readonly cause: unknown;
      readonly message: string;
    }
  /** The `overrides` function was late, threw, or returned an invalid override. The limit's own numbers were used. */
  | {
      readonly type: 'override-failed';
      readonly limit: string;
      readonly id: string;
      readonly cause: unknown;
      readonly message: string;
    }
  /**
   * A `settle`, `onDecision`, `weight` or `slotsUntil` function threw, rejected or returned a wrong value. The request is
   * not affected. After a failed `settle` the full cost stays taken, after a failed `weight` the weight is 1, and after a
   * failed `slotsUntil` the slots of the request are released.
   */
  | {
      readonly type: 'callback-failed';
      readonly callback: 'settle' | 'onDecision' | 'weight' | 'slotsUntil';
      readonly cause: unknown;
      readonly message: string;
    }
  /**
   * A decision or a charge has reached a threshold of a quota: `used` of its `count` tokens are used in the period that
   * ends at `end`. `id` is the canonical id, which `message` leaves out.
   */
  | {
      readonly type: 'quota-warning';
      readonly limit: string;
      readonly id: string;
      readonly used: number;
      readonly count: number;
      /** The threshold that was reached, as in `warnAt`. */
      readonly threshold: number;
      readonly end: Date;
      readonly message: string;
    }
  /**
   * The load of a limit could not be read, or its function `enabled` threw or returned a wrong value, `count` times since
   * the last such event. Emitted at once, then at most once a minute. A load that can't be read counts as none, so that
   * the limit sheds less and less; after a failed `enabled` it remains as it was, on or off.
   */
  | {
      readonly type: 'load-failed';
      readonly limit: string;
      readonly count: number;
      readonly cause: unknown;
      readonly message: string;
    }
  /** A load limit denies its first request at this level of its load. */
  | { readonly type: 'shedding-began'; readonly limit: string; readonly level: number; readonly message: string }
  /** The level of a load is 0 again, after its limit denied `count` requests in `durationMs`. */
  | {
      readonly type: 'shedding-ended';
      readonly limit: string;
      readonly durationMs: number;
      readonly count: number;
      readonly message: string;
    }
  /**
   * A user's function threw on a server that has no error handler, which `limitNode` of `@sluice/node` limits. The
   * request was answered with 500.
   */
  | { readonly type: 'request-failed'; readonly cause: unknown; readonly message: string }
  /** A user's function threw during an upgrade, where no framework handles errors. The upgrade was rejected. */
  | { readonly type: 'upgrade-failed'; readonly cause: unknown; readonly message: string }
  /**
   * Requests were denied because their callers would have given up before they could begin: `count` since the last such event.
   * Emitted at once, then at most once a minute. See the option `deadline` of a middleware, and `within` of `Limiter.spend`.
   */
  | { readonly type: 'deadline-denied'; readonly count: number; readonly message: string }
  /** A request was denied after its response had begun. The status could not be sent, and the response was ended. */
  | { readonly type: 'denial-not-sent'; readonly message: string }
  /**
   * A memory store that is full evicted buckets with spent tokens, `count` of them since the last such event. Emitted
   * at once, then at most every ten minutes.
   */
  | { readonly type: 'buckets-evicted'; readonly count: number; readonly message: string }
  /**
   * Limits were made again that another limiter on the same store object has, with equal numbers. Both limiters share the
   * buckets. `places` are where they were made, the earlier one first. Emitted once for each pair of places.
   */
  | {
      readonly type: 'limit-made-again';
      readonly limits: readonly string[];
      readonly places: readonly [string, string];
      readonly message: string;
      readonly once: true;
    }
  /**
   * Another process on the store had a limit of the same name with other numbers within the last minute: `there` are its
   * numbers, and `here` those of this limiter. Emitted once for each other set of numbers, with the level `info`: in a
   * roll-out it is expected. Once more, with the level `warning`, when both have been in use for ten minutes: then it is
   * probably another service, whose store needs another `prefix`, `table` or socket.
   */
  | {
      readonly type: 'other-numbers';
      readonly level: 'info' | 'warning';
      readonly limit: string;
      readonly here: string;
      readonly there: string;
      readonly message: string;
      readonly once: true;
    }
  /** The limiter seems to be set up wrongly, its store has not answered yet, or its memory store is nearly full. */
  | { readonly type: 'warning'; readonly message: string; readonly once?: true };

/** Emits an event. It must not throw. */
export type EventSink<Event extends EventLine = LimiterEvent> = (event: Event) => void;

/** The properties of every event: its type and the text of its log line. */
export interface EventLine {
  readonly type: string;
  readonly message: string;
  /** With `threshold`: the limit whose threshold was reached. The log throttles each pair on its own. */
  readonly limit?: string;
  readonly threshold?: number;
  /** True for an event that is emitted at most once for its cause. The log never omits its line. */
  readonly once?: true;
}

/**
 * The diagnostics channel `sluice:decision`: a `DecisionMessage` for every decision that a limiter makes by
 * `spend` or in a middleware. Nothing is built or timed while nobody subscribes.
 */
export const decisionChannel: Channel = channel('sluice:decision');

/** The diagnostics channel `sluice:store`: a `StoreMessage` when an outage of a store begins, and when it ends. */
export const storeChannel: Channel = channel('sluice:store');

/** The diagnostics channel `sluice:shed`: a `ShedMessage` when a load limit begins to shed requests, and when it ends. */
export const shedChannel: Channel = channel('sluice:shed');

/** The diagnostics channel `sluice:correction`: a `CorrectionMessage` for whatever changes buckets after decisions. */
export const correctionChannel: Channel = channel('sluice:correction');

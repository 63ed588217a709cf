/**
 * Something that an operator may want to know. `message` says what happened and what to do; the log line is the message
 * after `Sluice: `.
 */
export type LimiterEvent =
  /** The store stopped answering: from now on each limit follows its failure policy. */
  | { readonly type: 'store-failing'; readonly cause: unknown; readonly message: string }
  /** The store answers again: limits are decided by it. `outageMs` counts from the first failure of the outage. */
  | { readonly type: 'store-recovered'; readonly outageMs: number; readonly message: string }
  /** One bucket in the store is broken (a foreign value under its key); the store itself is fine. */
  | { readonly type: 'bucket-broken'; readonly count: number; readonly cause: unknown; readonly message: string }
  /** Tokens that should have been given back, or taken after the fact, while the store could not answer. */
  | {
      readonly type: 'refund-lost' | 'charge-lost';
      /** How many since the last such event: reported at most once a minute. */
      readonly count: number;
      readonly cause: unknown;
      readonly message: string;
    }
  /** The overrides function was late, threw or gave nonsense: the limit's own numbers were used. */
  | {
      readonly type: 'override-failed';
      readonly limit: string;
      readonly id: string;
      readonly cause: unknown;
      readonly message: string;
    }
  /** A `settle` or `onDecision` function threw: the full cost stays, the request is not touched. */
  | {
      readonly type: 'callback-failed';
      readonly callback: 'settle' | 'onDecision';
      readonly cause: unknown;
      readonly message: string;
    }
  /** A function of the user threw on an upgrade, where no framework handles errors: it was refused. */
  | { readonly type: 'upgrade-failed'; readonly cause: unknown; readonly message: string }
  /** A request was denied when its response had begun: its status could not be sent, and the response was ended. */
  | { readonly type: 'denial-not-sent'; readonly message: string }
  /**
   * Something looks wrong in how the limiter is set up, its store has not answered yet, or its memory store is nearly
   * full or evicts buckets.
   */
  | { readonly type: 'warning'; readonly message: string; readonly once?: true };

/** Takes events where they happen. It must not throw. */
export type Notify<Event extends Tellable = LimiterEvent> = (event: Event) => void;

/** What every event has: its kind, and the text of its log line. */
export interface Tellable {
  readonly type: string;
  readonly message: string;
  /** True of an event that comes at most once for its cause: the log never leaves its line out. */
  readonly once?: true;
}

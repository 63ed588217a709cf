import type { Awaitable, Duration } from '@sluice/core';
import type { Scheduler } from '@sluice/core/scheduler';
import type { LearnOptions } from './learning/learning.ts';

/** A limit of calls, with an id and a cost of its own. `Call` is what their functions get. */
export interface LimitOfCalls<Name extends string, Call> {
  readonly limit: Name;
  /** Default: the `id` of all limits. */
  readonly id?: string | ((call: Call) => Awaitable<string>) | undefined;
  /** Tokens, a whole number of at least 0. Default: the `cost` of all limits. */
  readonly cost?: number | ((call: Call) => Awaitable<number>) | undefined;
}

/** The options of all doors. `Call` is what their functions get. */
export interface CallsOptions<Name extends string, Call> {
  /** The limits that each call takes from, by their names or with options. Default: all of the limiter. */
  readonly limits?: readonly (Name | LimitOfCalls<Name, Call>)[] | undefined;
  /** Whose bucket it is. Default: the origin, such as `https://api.example.com`; of limits by `everyone()`, `'everyone'`. */
  readonly id?: string | ((call: Call) => Awaitable<string>) | undefined;
  /** Tokens, a whole number of at least 0. Default: 1. */
  readonly cost?: number | ((call: Call) => Awaitable<number>) | undefined;
  /** As of `Scheduler.run`: from −10 to 10. Default: 0. */
  readonly priority?: number | ((call: Call) => number) | undefined;
  /** As of `Scheduler.run`: whose call it is. Default: one key for all calls. */
  readonly fair?: string | ((call: Call) => string) | undefined;
  /** How long a call may wait, for its limits and for what was learnt: a duration from 1 ms to 7 days. Default: 30 seconds. */
  readonly within?: Duration | undefined;
  /**
   * Which limit learns from which figures of answers, such as `{ requests: 'Requests', tokens: 'Tokens' }`: see
   * {@link LearnOptions.learn}. `false`: nothing is learnt. Default: the rate that fills fastest learns from requests and denials.
   */
  readonly learn?: LearnOptions<Name>['learn'] | false;
  /** How long to believe an answer at most: a duration from 1 ms to an hour. Default: a minute. */
  readonly learnAtMost?: Duration | undefined;
}

/** A scheduler, and the calls that it begins. */
export interface ScheduledCallsOptions<Name extends string, Call> extends CallsOptions<Name, Call> {
  readonly scheduler: Scheduler<Name>;
}

import type { Awaitable } from '../../packages/core/src/index.ts';
import type { Partition } from './partition.ts';

/** Processes that share one limit in some way. They decide requests in the order of time. */
export interface Contestant {
  /**
   * Decides a request.
   *
   * @param id - Whose request it is: each id has its own limit.
   * @param atMicros - When it arrives, not before the request that was decided last.
   * @param cost - A whole number of tokens.
   * @param process - The process that the request has arrived at, from 0.
   * @returns How long it has to wait before it continues, in microseconds; undefined if it is denied. A promise if that
   * depends on what happens later.
   */
  decide(id: string, atMicros: number, cost: number, process: number): Awaitable<number | undefined>;
  /** Advances the simulated clock to a moment. It is called before the first request of that moment. */
  advanceTo?(atMicros: number): Promise<void>;
}

/** The processes, and what is between them. */
export interface Processes {
  /** How many of them there are. */
  readonly processes: number;
  /** How many times as many requests arrive at the first one as at each other one. */
  readonly skew: number;
  /** After how long they know what the others have let through, where they tell each other. */
  readonly delayMicros: number;
  /** Undefined if all reach each other, and their store, at all times. */
  readonly partition: Partition | undefined;
}

/** The numbers of the limit, and its processes. */
export interface Numbers extends Processes {
  readonly burst: number;
  readonly count: number;
  readonly periodMicros: number;
  /** The emission interval. */
  readonly intervalTicks: number;
  /** Undefined if the limit has none. */
  readonly overshoot: number | undefined;
}

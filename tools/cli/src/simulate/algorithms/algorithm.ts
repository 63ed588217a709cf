import type { Awaitable } from '@sluice/core';
import type { Partition } from '../partition.ts';

/** Decides requests in the order of time. */
export interface Algorithm {
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

/** The numbers of a limit, for models of other algorithms. */
export interface Numbers {
  readonly burst: number;
  readonly count: number;
  readonly periodMicros: number;
  /** What a window allows: the first `atMost` of the limit, otherwise its count and period. */
  readonly window: { readonly most: number; readonly micros: number };
  /** The emission interval. */
  readonly intervalTicks: number;
  /** The `overshoot` of the limit; undefined if it has none. */
  readonly overshoot: number | undefined;
  /** How many processes decide. */
  readonly processes: number;
  /** After how long the processes know what the others have let through, where they tell each other. */
  readonly delayMicros: number;
  /** Undefined if all processes reach each other, and their store, at all times. */
  readonly partition: Partition | undefined;
}

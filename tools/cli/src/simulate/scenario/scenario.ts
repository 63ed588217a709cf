import type { Limits } from '@sluice/core';
import type { Arrivals } from '../arrivals.ts';
import type { Partition } from '../partition.ts';

/** Clients whose requests arrive alike, and are decided by the same limits. */
export interface ClientPlan {
  readonly name: string;
  /** How many of them there are. Each has buckets of its own. */
  readonly copies: number;
  /** The names of the limits that decide a request, together. */
  readonly limits: readonly string[];
  /** The cost of a request in tokens. */
  readonly cost: number;
  readonly arrivals: readonly Arrivals[];
}

/** What is simulated. */
export interface Scenario {
  readonly title: string;
  readonly description: string;
  readonly limits: Limits;
  readonly clients: readonly ClientPlan[];
  /** The length of the windows in which the most requests are counted; undefined for the period of the limit. */
  readonly withinMicros: number | undefined;
  /** The names of the models to compare with. */
  readonly compare: readonly string[];
  /** How many processes decide, at the models in which each decides by itself. */
  readonly processes: number;
  /** How many times as many requests arrive at the first process as at each other one. */
  readonly skew: number;
  /** After how long processes that tell each other what they let through know of it. */
  readonly delayMicros: number;
  readonly partition: Partition | undefined;
}

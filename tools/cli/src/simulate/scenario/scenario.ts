import type { Limits } from '@sluice/core';
import type { Arrivals } from '../arrivals.ts';

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
}

/** What a store with the trait `leases` needs to know of the limit of a transaction. */
export interface StoreTreatment {
  /**
   * How far all processes together may exceed the limit, as a part of its burst: above 0, at most 1. Undefined for a limit
   * that is exact.
   */
  readonly overshoot?: number | undefined;
  /** What decides while the store can't answer. */
  readonly onFailure: 'local' | 'closed' | 'open';
}

/** The numbers of the bucket of a transaction. */
export interface StoreRate {
  readonly burst: number;
  /** The emission interval T. */
  readonly emissionIntervalTicks: number;
  /** The tolerance τ = burst × T. */
  readonly toleranceTicks: number;
}

/** The numbers of a limit that a store may lease. */
export interface LeaseNumbers {
  readonly burst: number;
  /** The emission interval T. */
  readonly intervalTicks: number;
  readonly overshoot: number;
  readonly onFailure: 'local' | 'closed' | 'open';
}

/** How a store decides a limit with an `overshoot`. */
export type LeaseDescription =
  | {
      readonly leased: true;
      /** Whether a request waits for Redis when this process can't decide it, or is denied. */
      readonly mode: 'wait' | 'deny';
      /** How many tokens each process may let through before it reports them. */
      readonly overdraft: number;
      /** How long a lease can be spent. */
      readonly leaseMs: number;
      /** The longest time between two syncs of a bucket in use. */
      readonly syncMs: number;
      /** How many tokens all processes together let through beyond the limit, at most. */
      readonly bound: number;
      /** How the bound follows from the numbers. */
      readonly formula: string;
      /** The most calls that one process makes for one bucket in a second. */
      readonly callsPerSecond: number;
      /** What an outage of the store adds to the bound. */
      readonly outage: string;
    }
  | { readonly leased: false; readonly reason: string };

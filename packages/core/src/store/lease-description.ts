/** What a store needs to know of a transaction's limit, beside its numbers. */
export interface StoreTreatment {
  /**
   * How far all processes together may exceed the limit, as a part of its burst: above 0, at most 1. Undefined for a limit
   * that is decided exactly.
   */
  readonly overshoot?: number | undefined;
  /** What the limit does while the store can't answer. */
  readonly onFailure: 'local' | 'closed' | 'open';
}

/** The numbers of the bucket of a transaction. */
export interface StoreRate {
  /** The tokens of a full bucket. */
  readonly burst: number;
  /** The emission interval T. */
  readonly emissionIntervalTicks: number;
  /** The tolerance τ = burst × T. */
  readonly toleranceTicks: number;
}

/** The numbers by which a store leases tokens of a limit. */
export interface OvershootNumbers extends StoreTreatment {
  readonly overshoot: number;
  /** The tokens of a full bucket. */
  readonly burst: number;
  /** T, the time in which one token comes back, in ticks. */
  readonly intervalTicks: number;
}

/** How a store with leases decides a limit that has an `overshoot`. */
export type LeaseDescription =
  | {
      readonly leased: true;
      /** Whether a request may wait for a sync, or is denied instead. */
      readonly mode: 'wait' | 'deny';
      /** How many tokens a process lets through before it has asked the store for them. */
      readonly overdraft: number;
      /** How long a process may use tokens that it has leased, in milliseconds. */
      readonly leaseMs: number;
      /** The longest time between two syncs of a bucket in use, in milliseconds. */
      readonly syncMs: number;
      /** How many tokens more than the limit allows may pass in any time, whatever happens: at most `overshoot` × burst. */
      readonly bound: number;
      /** The bound as a formula. */
      readonly formula: string;
      /** About how many calls a second a process makes while the limit is in use. They sync its other buckets, too. */
      readonly callsPerSecond: number;
      /**
       * For how long other processes must have reported little before a process denies, in milliseconds, so that the wait of
       * the denial includes what they have let through. 0 where a denial does not wait for reports: what they have not
       * reported comes back quickly, there is one process, or the mode is `deny`.
       */
      readonly settleMs: number;
      /**
       * How much a denial may add to its wait, in milliseconds, because other processes may have let through so much and not
       * reported it. With a `settleMs` above 0 this is rare.
       */
      readonly lateMs: number;
      /** What the failure policy adds to the bound. */
      readonly outage: string;
    }
  | {
      readonly leased: false;
      /** Why the store decides the limit exactly, in words that follow "because". */
      readonly reason: string;
    };

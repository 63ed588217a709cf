/** What a memory store holds, and what it has dropped since it was made. */
export interface MemoryStats {
  /** Buckets held, from 0 to `maxKeys`. Buckets that are full again count until the sweep finds them. */
  readonly size: number;
  readonly maxKeys: number;
  /** Buckets evicted while they were still in debt, because there were more than `maxKeys`. */
  readonly evicted: number;
  /** Buckets dropped because they were full again, which changes no decision. */
  readonly swept: number;
  /** Bytes allocated for buckets. */
  readonly bytes: number;
  /** The same for each limit that has buckets, by the limit's name. */
  readonly limits: Readonly<Record<string, LimitStats>>;
}

/** What a memory store holds for one limit. It is forgotten when the limit has no buckets any more. */
export interface LimitStats {
  /** Buckets held. The limit with the most is the one whose buckets are evicted. */
  readonly size: number;
  /** Buckets evicted while they were still in debt. */
  readonly evicted: number;
  /**
   * The longest time that an evicted bucket still needed to be full again, in milliseconds; 0 when none was evicted.
   * While it is at most (burst − 1) × period / count, no evicted bucket was exhausted: each still had a token.
   */
  readonly evictedDebtMs: number;
}

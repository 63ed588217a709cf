/**
 * What a process sends to Redis in one sync of its leased limits, and what it receives. Ticks are whole numbers of
 * 1/16 µs. Points in time are in ticks of the server's clock since 2026-01-01 UTC.
 *
 * @module
 */

/** One bucket of a sync. */
export interface SyncEntry {
  /** The Redis key of the bucket: the same as for processes without leases. */
  readonly key: string;
  /** What the process let through beyond its leases since its last sync: tokens × T, at least 0. */
  readonly chargeTicks: number;
  /**
   * The TAT that the decisions of `chargeTicks` alone would have left, minus the time of sending. Undefined when nothing
   * was let through.
   */
  readonly ownLevelTicks: number | undefined;
  /** What the process gives back, at least 0. */
  readonly returnTicks: number;
  /** How many tokens the process wants to lease. */
  readonly wantedTokens: number;
  /** T. */
  readonly intervalTicks: number;
  /** τ = burst × T: tokens are leased up to this level. */
  readonly fitTicks: number;
  /**
   * The highest level that processes with these numbers can leave. A charge and a floor raise the level to at most this. A
   * level above it that is also above the level that was written is an error of the server's clock, and is repaired.
   */
  readonly capTicks: number;
  /** The TAT in the last reply, in case Redis has lost it; 0 when there was none. */
  readonly floorTicks: number;
  /** Whether Redis is known to have lost data since the last reply for this bucket: then the floor counts. */
  readonly lost: boolean;
}

/** One call. In a cluster, all its keys are in one hash slot. */
export interface SyncCall {
  /** The Redis key of the stream. Its value is the sequence number of the last sync of this process. */
  readonly stream: string;
  /** The sequence number of this sync, from 1 up. A sync that is sent again has the same number. */
  readonly sequence: number;
  /** The last sync that was answered; 0 when none was, or when the key of the stream may have expired since. */
  readonly answeredSequence: number;
  /** How long the key of the stream lives, in milliseconds. */
  readonly streamLifeMs: number;
  /** The latest time at which the script may lease tokens and give tokens back. */
  readonly latestTicks: number;
  /** No key occurs twice. */
  readonly entries: readonly SyncEntry[];
}

/** The level in a reply for a bucket that does not exist, about nine years in the past. */
export const ABSENT_LEVEL_TICKS: number = -(2 ** 52);

/** The answer for one bucket. */
export interface SyncedBucket {
  /** TAT − now after the sync. Negative if the TAT has passed, {@link ABSENT_LEVEL_TICKS} without a bucket. */
  readonly levelTicks: number;
  /**
   * Whether the TAT was not below the floor. If it was, the bucket was reset or got a refund since the last reply, or the
   * server's clock was set back; nothing was given back then. A floor that has passed is always kept.
   */
  readonly keptFloor: boolean;
  /** The tokens that were leased. */
  readonly grantedTokens: number;
  /**
   * True when the value of the key is not a bucket: another program has written it. Then nothing was charged or leased,
   * and the level is `capTicks`.
   */
  readonly isBroken?: true;
}

/** The answer of a sync. */
export interface SyncReply {
  readonly nowTicks: number;
  /** False when this sync had already been applied. Then nothing was charged, given back or leased again. */
  readonly fresh: boolean;
  /**
   * Whether Redis had lost the last answered sync of the stream, when it applied this one. Then the floors of all its buckets
   * counted.
   */
  readonly lost: boolean;
  /** In the order of the entries. */
  readonly buckets: readonly SyncedBucket[];
}

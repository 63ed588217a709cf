import { ceilToMs } from '../../rule/ticks.ts';
import type { BucketTable } from './bucket-table.ts';
import { wallUnitsToMs } from './store-time.ts';

/** The contents of a memory store, and what it has dropped since its creation. */
export interface MemoryStats {
  /** Buckets in the store, from 0 to `maxKeys`. Buckets that are full count until the sweep removes them. */
  readonly size: number;
  /** The option `maxKeys` of the store. */
  readonly maxKeys: number;
  /** Buckets evicted while they were still in debt, because there were more than `maxKeys`. */
  readonly evicted: number;
  /** Buckets dropped because they were full, which changes no decision. */
  readonly swept: number;
  /** Bytes allocated for buckets. */
  readonly bytes: number;
  /** The statistics of each limit that has buckets, or had some a thousand calls ago, by the limit's name. */
  readonly limits: Readonly<Record<string, LimitStats>>;
  /**
   * The number of slots that are held of each limit with a `concurrency`, by the limit's name. Slots that have expired
   * count until the store has looked at their bucket. They do not count as buckets in any other figure.
   */
  readonly slots: Readonly<Record<string, number>>;
}

/** The statistics of one limit. They are discarded when the limit has had no buckets for some time. */
export interface LimitStats {
  /** Buckets of the limit. Buckets are evicted from the limit with the most. */
  readonly size: number;
  /** Buckets evicted while they were still in debt. */
  readonly evicted: number;
  /**
   * The longest time that an evicted bucket still needed until it was full, in milliseconds; 0 when none was evicted.
   * While it is at most (burst − 1) × period / count, no evicted bucket was exhausted: each still had a token.
   */
  readonly evictedDebtMs: number;
}

export function statsOf({ size, evicted, evictedDebt, wall }: BucketTable): LimitStats {
  const evictedDebtMs = wall === undefined ? ceilToMs(evictedDebt) : wallUnitsToMs(evictedDebt);
  return { size, evicted, evictedDebtMs };
}

/** Adds the statistics of two tables of one limit. */
export function sumOf(one: LimitStats, other: LimitStats | undefined): LimitStats {
  if (other === undefined) return one;
  const evictedDebtMs = Math.max(one.evictedDebtMs, other.evictedDebtMs);
  return { size: one.size + other.size, evicted: one.evicted + other.evicted, evictedDebtMs };
}

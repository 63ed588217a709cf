import type { SlotLease, StoreBucket, StoreReading } from '../store.ts';
import { endOfPeriod, StalePeriodError, type CalendarPeriod } from '../calendar-period.ts';
import { wallUnits } from './store-time.ts';

/** What a batch names of a bucket. Refunds have no `capTicks`, and only transactions have a `lease`. */
export interface BatchEntry extends StoreBucket {
  readonly capTicks?: number;
  readonly period?: CalendarPeriod | undefined;
  readonly lease?: SlotLease | undefined;
}

/** The calendar periods of one batch at one reading of the wall clock, by the index of the transaction. */
export class BatchPeriods {
  readonly #wallMs: number;
  /** The end of the running period, in the unit of TATs; 0 for a bucket without a period. */
  readonly #ends: number[] = [];
  /** The length of the next period, in the unit of TATs; 0 for a bucket without a period. */
  readonly #lengths: number[] = [];

  /** @throws {StalePeriodError} when the time is outside of a period. */
  constructor(batch: readonly BatchEntry[], wallMs: number) {
    this.#wallMs = wallMs;
    // Loops and no `map`, here and below: see docs/hot-path.md.
    for (let index = 0; index < batch.length; index++) {
      const { period } = batch[index]!;
      this.#ends.push(period === undefined ? 0 : wallUnits(checkedEnd(period, wallMs)));
      this.#lengths.push(period === undefined ? 0 : wallUnits(period[2] - period[1]));
    }
  }

  /** Whether a bucket has a period. */
  has(index: number): boolean {
    return this.#ends[index] !== 0;
  }

  /** Returns the end of a bucket's period, or `now` if it has none. */
  endAt(index: number, now: number): number {
    return this.#ends[index]! || now;
  }

  /** Whether a level can only be one of the next period. */
  isAhead(index: number, level: number): boolean {
    return this.has(index) && level > this.#lengths[index]! / 2;
  }

  /**
   * Returns a level unchanged if it is of this period or the next one. Otherwise the clock was wrong when it was
   * written, and the level is mended.
   *
   * @param written - The level that was written, if the bucket was written in the latest period of all.
   */
  mended({ capTicks }: BatchEntry, index: number, level: number, written: number): number {
    if (level <= 1.5 * this.#lengths[index]!) return level;
    return written > 0 ? written : (capTicks ?? level);
  }

  readingOf(nowTicks: number, levelsTicks: readonly number[]): StoreReading {
    const bucketNowTicks: number[] = [];
    const bucketWallMs: (number | undefined)[] = [];
    for (let index = 0; index < levelsTicks.length; index++) {
      bucketNowTicks.push(this.endAt(index, nowTicks));
      bucketWallMs.push(this.has(index) ? this.#wallMs : undefined);
    }
    return { nowTicks, levelsTicks, bucketNowTicks, bucketWallMs };
  }
}

function checkedEnd(period: CalendarPeriod, wallMs: number): number {
  const end = endOfPeriod(period, wallMs);
  if (end === undefined) throw new StalePeriodError(period, wallMs);
  return end;
}

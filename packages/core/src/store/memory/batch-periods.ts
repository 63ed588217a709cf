import type { ReadingToFill, SlotHolding, StoreBucket } from '../store.ts';
import { endOfPeriod, StalePeriodError, type CalendarPeriod } from '../calendar-period.ts';
import { wallUnits, type WallClock } from './store-time.ts';

/** What a batch names of a bucket. Refunds have no `capTicks`, and only transactions have a `holding`. */
export interface BatchEntry extends StoreBucket {
  readonly capTicks?: number;
  readonly period?: CalendarPeriod | undefined;
  readonly holding?: SlotHolding | undefined;
}

/**
 * The calendar periods of the current batch, by the index of the transaction, at one reading of the wall clock for each
 * call. One object for all batches, which contains only numbers, so that it refers to no new object.
 */
export class BatchPeriods {
  readonly #wall: WallClock;
  /** The wall clock in the current call. To be set to NaN when a call begins; read when a bucket with a period needs it. */
  wallMs: number = NaN;
  /**
   * Whether a bucket of the current batch has a period, as far as the batch has been read. To be set to false when a batch
   * begins.
   */
  areUsed: boolean = false;
  /** The end of the running period, in the unit of TATs; 0 for a bucket without a period. */
  #ends = new Float64Array(1);
  /** The length of the next period, in the unit of TATs; 0 for a bucket without a period. */
  #lengths = new Float64Array(1);

  constructor(wall: WallClock) {
    this.#wall = wall;
  }

  /**
   * Call it for each bucket with a period before its end is asked for. Finds the ends of the whole batch.
   *
   * @throws {StalePeriodError} when the time is outside of a period.
   */
  find(batch: readonly BatchEntry[]): void {
    if (!this.areUsed) this.#findAll(batch);
  }

  #findAll(batch: readonly BatchEntry[]): void {
    if (Number.isNaN(this.wallMs)) this.wallMs = this.#wall.nowMs();
    this.#makeRoomFor(batch.length);
    for (let index = 0; index < batch.length; index++) {
      const { period } = batch[index]!;
      this.#ends[index] = period === undefined ? 0 : wallUnits(checkedEnd(period, this.wallMs));
      this.#lengths[index] = period === undefined ? 0 : wallUnits(period[2] - period[1]);
    }
    this.areUsed = true;
  }

  /** Whether a bucket has a period. */
  has(index: number): boolean {
    return this.areUsed && this.#ends[index] !== 0;
  }

  /** Returns the end of a bucket's period, or `now` if it has none. */
  endAt(index: number, now: number): number {
    return this.has(index) ? this.#ends[index]! : now;
  }

  /** Whether a level can only be one of the next period. */
  isAhead(index: number, level: number): boolean {
    return this.has(index) && level > 0.75 * this.#lengths[index]!;
  }

  /**
   * Returns a level unchanged if it is of this period or the next one. Otherwise the clock was wrong when it was
   * written, and the level is mended.
   *
   * @param written - The level that was written, if the bucket was written in the latest period of all.
   */
  mended({ capTicks }: BatchEntry, index: number, level: number, written: number): number {
    return level <= 1.75 * this.#lengths[index]! ? level : mendedLevel(capTicks ?? level, written);
  }

  /** Returns the latest TAT of a bucket with a period that may be dropped. */
  dropTime(): number {
    return this.#wall.dropTime(this.wallMs);
  }

  /** Adds the ends of the periods and the wall clock to the reading of a batch of which a bucket has a period. */
  fill(reading: ReadingToFill, nowTicks: number): void {
    const count = reading.levelsTicks.length;
    // A loop over preallocated arrays, which is faster than map.
    // oxlint-disable-next-line unicorn/no-new-array
    const bucketNowTicks = new Array<number>(count);
    // oxlint-disable-next-line unicorn/no-new-array
    const bucketWallMs = new Array<number | undefined>(count);
    for (let index = 0; index < count; index++) {
      bucketNowTicks[index] = this.endAt(index, nowTicks);
      bucketWallMs[index] = this.has(index) ? this.wallMs : undefined;
    }
    reading.bucketNowTicks = bucketNowTicks;
    reading.bucketWallMs = bucketWallMs;
  }

  #makeRoomFor(count: number): void {
    if (this.#ends.length >= count) return;
    this.#ends = new Float64Array(count);
    this.#lengths = new Float64Array(count);
  }
}

/** Returns what a level that a wrong clock has written is mended to. */
export function mendedLevel(capTicks: number, written: number): number {
  return written > 0 ? written : capTicks;
}

/**
 * Returns the end of the current period of the two, in milliseconds of Unix time.
 *
 * @throws {StalePeriodError} when the time is in neither of them.
 */
export function checkedEnd(period: CalendarPeriod, wallMs: number): number {
  const end = endOfPeriod(period, wallMs);
  if (end === undefined) throw new StalePeriodError(period, wallMs);
  return end;
}

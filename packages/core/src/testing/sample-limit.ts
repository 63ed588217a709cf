import { assert } from './assert.ts';
import { fits } from '../rule/gcra.ts';
import {
  nowTicksAt,
  type Mode,
  type StoreCap,
  type StoreCharge,
  type StoreReading,
  type StoreRefund,
  type StoreTransaction,
} from '../store/store.ts';
import { TICKS_PER_SECOND } from '../rule/ticks.ts';

/** A limit as a store knows it: creates the entries of batches. Costs are in tokens. */
export class SampleLimit {
  readonly name: string;
  readonly burst: number;
  readonly emissionIntervalTicks: number;

  constructor(name: string, burst: number, emissionIntervalTicks: number) {
    this.name = name;
    this.burst = burst;
    this.emissionIntervalTicks = emissionIntervalTicks;
  }

  spend(id: string, cost = 1, mode: Mode = 'check-and-spend'): StoreTransaction {
    const charge = this.charge(id, cost);
    return { ...charge, fitTicks: charge.capTicks, mode };
  }

  /** A transaction that may fill the bucket only up to `room` tokens, and charge it up to `cap` tokens. */
  within(
    { room = this.burst, cap = this.burst }: { room?: number; cap?: number },
    spend: StoreTransaction,
  ): StoreTransaction {
    return { ...spend, fitTicks: room * this.emissionIntervalTicks, capTicks: cap * this.emissionIntervalTicks };
  }

  charge(id: string, cost = 1): StoreCharge {
    const { name: limit, burst, emissionIntervalTicks } = this;
    return { limit, id, incrementTicks: cost * emissionIntervalTicks, capTicks: burst * emissionIntervalTicks };
  }

  cap(id: string): StoreCap {
    const { name: limit, burst, emissionIntervalTicks } = this;
    return { limit, id, capTicks: burst * emissionIntervalTicks };
  }

  refund(id: string, cost = 1, tatAfterSpendTicks?: number): StoreRefund {
    return { ...this.charge(id, cost), tatAfterSpendTicks };
  }

  /** A transaction of a request that may wait in a queue: it fits up to `room` tokens. */
  queued(room: number, spend: StoreTransaction): StoreTransaction {
    const lineTicks = this.burst * this.emissionIntervalTicks;
    return { ...this.within({ room, cap: room }, spend), lineTicks };
  }

  /** The same limit with other numbers, as after a change of configuration. */
  withBurst(burst: number): SampleLimit {
    return new SampleLimit(this.name, burst, this.emissionIntervalTicks);
  }
}

/** Five tokens, one per minute: during a case, far less than a token refills, even on a real clock. */
export const slow: SampleLimit = new SampleLimit('Slow', 5, 60 * TICKS_PER_SECOND);

/** Another limit with the same numbers. */
export const other: SampleLimit = new SampleLimit('Other', 5, 60 * TICKS_PER_SECOND);

/** Two tokens, one per 20 ms: short enough to wait for. */
export const quick: SampleLimit = new SampleLimit('Quick', 2, TICKS_PER_SECOND / 50);

/** Whether one transaction fitted, by the level that `spend` returned. */
export function fitted(reading: StoreReading, transaction: StoreTransaction, index = 0): boolean {
  return fits(levelAt(reading, index), transaction.incrementTicks, transaction.fitTicks);
}

/** Returns the TAT of a level at the time of its reading, plus the increment that was taken then. */
export function tatOf(reading: StoreReading, incrementTicks = 0, index = 0): number {
  return nowTicksAt(reading, index) + levelAt(reading, index) + incrementTicks;
}

/** Asserts the TAT of a bucket: its level is the part of the TAT that still lies ahead, to the tick, on any clock. */
export function assertTat(reading: StoreReading, tat: number, index = 0): void {
  assert.equal(levelAt(reading, index), Math.max(0, tat - nowTicksAt(reading, index)), `the level at index ${index}`);
}

function levelAt({ levelsTicks }: StoreReading, index: number): number {
  const level = levelsTicks[index];
  assert.ok(level !== undefined, `the reading has no level at index ${index}`);
  return level;
}

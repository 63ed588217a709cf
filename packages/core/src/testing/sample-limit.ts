import assert from 'node:assert/strict';
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

/** A limit in the terms of a store: makes the entries of its batches. Costs are in tokens. */
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
    return { ...this.charge(id, cost), mode };
  }

  charge(id: string, cost = 1): StoreCharge {
    const { name: limit, burst, emissionIntervalTicks } = this;
    return { limit, id, incrementTicks: cost * emissionIntervalTicks, toleranceTicks: burst * emissionIntervalTicks };
  }

  cap(id: string): StoreCap {
    const { name: limit, burst, emissionIntervalTicks } = this;
    return { limit, id, toleranceTicks: burst * emissionIntervalTicks };
  }

  refund(id: string, cost = 1, tatAfterSpendTicks?: number): StoreRefund {
    return { ...this.charge(id, cost), tatAfterSpendTicks };
  }

  /** The same limit with other numbers, as after a change of configuration. */
  withBurst(burst: number): SampleLimit {
    return new SampleLimit(this.name, burst, this.emissionIntervalTicks);
  }
}

/** Five tokens, one a minute: what comes back while a case runs is far less than a token, also on a real clock. */
export const slow: SampleLimit = new SampleLimit('Slow', 5, 60 * TICKS_PER_SECOND);

/** Another limit with the same numbers. */
export const other: SampleLimit = new SampleLimit('Other', 5, 60 * TICKS_PER_SECOND);

/** Two tokens, each back after 20 ms: short enough to be waited for. */
export const quick: SampleLimit = new SampleLimit('Quick', 2, TICKS_PER_SECOND / 50);

/** Whether one transaction fitted, by the level that spend gave. */
export function fitted(reading: StoreReading, transaction: StoreTransaction, place = 0): boolean {
  return fits(levelAt(reading, place), transaction.incrementTicks, transaction.toleranceTicks);
}

/** The TAT that a level stands for, at the reading's own moment; later by what was taken then. */
export function tatOf(reading: StoreReading, incrementTicks = 0, place = 0): number {
  return nowTicksAt(reading, place) + levelAt(reading, place) + incrementTicks;
}

/** Asserts that a bucket stands at a TAT: on every clock its level is what of it still lies ahead, to the tick. */
export function assertTat(reading: StoreReading, tat: number, place = 0): void {
  assert.equal(levelAt(reading, place), Math.max(0, tat - nowTicksAt(reading, place)), `the level at place ${place}`);
}

function levelAt({ levelsTicks }: StoreReading, place: number): number {
  const level = levelsTicks[place];
  assert.ok(level !== undefined, `the reading has no level at place ${place}`);
  return level;
}

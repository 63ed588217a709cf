import type { Served } from './queued-redis.ts';

const TICKS_PER_MS = 16_000;
export const INTERVAL_MS = 100;

/** What happened in 100 ms. */
export interface Interval {
  readonly fromMs: number;
  /** Requests of all clients. */
  readonly offered: number;
  /** Requests that were let through to the backend. */
  readonly admitted: number;
  /** Those of the admitted that passed only because Redis did not answer. */
  readonly admittedUnchecked: number;
  /** Requests that were answered with a 503, because Redis did not answer. */
  readonly unavailable: number;
  /** The longest of 99 % of the waits of calls in Redis, their service included. Of calls that arrived then. */
  readonly redisP99Ms: number;
  /** The part of the time in which Redis worked, if the work is counted when it arrives. Above 1, it falls behind. */
  readonly redisLoad: number;
  /** How long the backend needs for all that waits for it, at the end. */
  readonly backlogMs: number;
}

interface Counts {
  offered: number;
  admitted: number;
  admittedUnchecked: number;
  unavailable: number;
  delaysTicks: number[];
  workTicks: number;
}

/** Counts what happens, in intervals of 100 ms. */
export class Tally {
  readonly #intervals: Counts[];

  constructor(durationMs: number) {
    this.#intervals = Array.from({ length: Math.ceil(durationMs / INTERVAL_MS) }, () => {
      return { offered: 0, admitted: 0, admittedUnchecked: 0, unavailable: 0, delaysTicks: [], workTicks: 0 };
    });
  }

  /** Counts a request in the interval in which it is decided. */
  count(what: 'offered' | 'admitted' | 'admittedUnchecked' | 'unavailable', atTicks: number): void {
    const interval = this.#at(atTicks);
    if (interval !== undefined) interval[what]++;
  }

  served({ arrivedTicks, delayTicks, serviceTicks }: Served): void {
    const interval = this.#at(arrivedTicks);
    interval?.delaysTicks.push(delayTicks);
    if (interval !== undefined) interval.workTicks += serviceTicks;
  }

  /** @param backendPerSecond - How many requests the backend can answer. */
  intervals(backendPerSecond: number): readonly Interval[] {
    let backlog = 0;
    return this.#intervals.map(({ delaysTicks, workTicks, ...counts }, i) => {
      backlog = Math.max(0, backlog + counts.admitted - (backendPerSecond * INTERVAL_MS) / 1000);
      return {
        fromMs: i * INTERVAL_MS,
        ...counts,
        redisP99Ms: quantile(delaysTicks, 0.99) / TICKS_PER_MS,
        redisLoad: workTicks / (INTERVAL_MS * TICKS_PER_MS),
        backlogMs: (1000 * backlog) / backendPerSecond,
      };
    });
  }

  #at(ticks: number): Counts | undefined {
    return this.#intervals[Math.floor(ticks / (INTERVAL_MS * TICKS_PER_MS))];
  }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(part * sorted.length)] ?? 0;
}

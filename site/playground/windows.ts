import { FixedWindow } from '../../tools/cli/src/simulate/algorithms/fixed-window.ts';
import { SlidingWindowCounter } from '../../tools/cli/src/simulate/algorithms/sliding-window-counter.ts';
import type { Limit } from '../../packages/core/src/limits/limit.ts';
import type { Arrival } from './case.ts';

/** An algorithm beside Sluice, and which of the requests it lets through. */
export interface Compared {
  readonly label: string;
  readonly passed: readonly boolean[];
}

/**
 * Decides a timeline by windows of the same count and period. With two limits they are stacked, as two middlewares are:
 * what the first one has counted stays counted when the second one refuses.
 */
export function comparedWith(limits: readonly Limit[], arrivals: readonly Arrival[]): readonly Compared[] {
  return [
    {
      label: 'Fixed window',
      passed: passedBy(
        limits.map((limit) => new FixedWindow(numbersOf(limit))),
        arrivals,
      ),
    },
    {
      label: 'Sliding counter',
      passed: passedBy(
        limits.map((limit) => new SlidingWindowCounter(numbersOf(limit))),
        arrivals,
      ),
    },
  ];
}

function passedBy(windows: readonly (FixedWindow | SlidingWindowCounter)[], arrivals: readonly Arrival[]): boolean[] {
  return arrivals.map(({ atMs, cost }) =>
    windows.every((window) => window.decide('client', Math.round(atMs * 1000), cost) !== undefined),
  );
}

function numbersOf({ rate }: Limit): ConstructorParameters<typeof FixedWindow>[0] {
  const { count, periodMs } = rate;
  return { window: { most: count, micros: Math.round(periodMs * 1000) } };
}

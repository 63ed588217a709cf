import type { AlgorithmReport, Curve } from './report.ts';

/** The most points of a curve. A picture has about as many pixels. */
const POINTS = 500;

/** Returns the figures of requests that continued at some moments, which are sorted in place. */
export function figuresOf(
  starts: number[],
  { firstMicros, withinMicros, requests }: { firstMicros: number; withinMicros: number; requests: number },
): Omit<AlgorithmReport, 'algorithm'> {
  starts.sort((a, b) => a - b);
  const last = starts.at(-1);
  return {
    allowed: starts.length,
    denied: requests - starts.length,
    mostWithin: mostWithin(starts, withinMicros),
    lastMs: last === undefined ? null : (last - firstMicros) / 1000,
    curve: curveOf(starts, firstMicros),
  };
}

/** Returns the most moments in any window, which contains its beginning and not its end. */
function mostWithin(starts: readonly number[], withinMicros: number): number {
  let [most, oldest] = [0, 0];
  for (const [i, start] of starts.entries()) {
    while (start - starts[oldest]! >= withinMicros) oldest++;
    most = Math.max(most, i - oldest + 1);
  }
  return most;
}

/**
 * Returns how many requests have continued at each moment. Of moments that are closer than a point of the picture, the last
 * is kept.
 *
 * @param starts - In ascending order.
 */
export function curveOf(starts: readonly number[], firstMicros: number): Curve {
  const [first = 0, last = 0] = [starts[0], starts.at(-1)];
  const least = (last - first) / POINTS;
  const curve: [number, number][] = [];
  let keptAt = -Infinity;
  for (const [i, start] of starts.entries()) {
    const point: [number, number] = [(start - firstMicros) / 1000, i + 1];
    if (start > keptAt && start - keptAt >= least) {
      keptAt = start;
      curve.push(point);
    } else {
      curve[curve.length - 1]![1] = i + 1;
    }
  }
  return curve;
}

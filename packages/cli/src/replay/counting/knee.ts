/** A point of a falling curve. */
export interface CurveXY {
  readonly x: number;
  readonly y: number;
}

/** How far below the line a point must be to count as a knee, as a part of the height. */
const LEAST = 0.1;

/**
 * Returns the index of the knee of a falling curve, on logarithmic axes: the point that is farthest below the line from its
 * first point to its last. -1 if the curve has no knee.
 *
 * @param points - In ascending order of x. All numbers are above 0.
 * @see V. Satopää and others: Finding a "Kneedle" in a Haystack (2011), for a known shape.
 */
export function kneeOf(points: readonly CurveXY[]): number {
  const xs = points.map(({ x }) => Math.log(x));
  const ys = points.map(({ y }) => Math.log(y));
  const [width, height] = [xs.at(-1)! - xs[0]!, ys[0]! - ys.at(-1)!];
  if (!(width > 0) || !(height > 0)) return -1;
  let best = { below: LEAST, index: -1 };
  for (const [index, x] of xs.entries()) {
    const below = 1 - (x - xs[0]!) / width - (ys[index]! - ys.at(-1)!) / height;
    if (below > best.below) best = { below, index };
  }
  return best.index;
}

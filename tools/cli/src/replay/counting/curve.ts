import type { ClientTable } from '../keys/client-table.ts';
import { bandOf, type Band } from './band.ts';

/** A point of a {@link BurstCurve}: with this burst, so many ids are denied at least once. */
interface CurvePoint {
  readonly burst: number;
  readonly deniedIds: Band;
  /** How many requests these ids made, allowed ones too. */
  readonly theirRequests: Band;
}

/**
 * How many ids a limit would ever deny, by its burst, at the limit's own rate. Exact: the level of a bucket that denies
 * nothing shows the burst that its id needs. Ids with overrides are left out.
 */
export interface BurstCurve {
  /** In ascending order. The last one denies nobody. */
  readonly points: readonly CurvePoint[];
  /** The burst after which a larger one helps few more ids; null if the curve has no such point. */
  readonly knee: number | null;
}

const MAX_POINTS = 120;

/** Returns the curve of a limit. Undefined if no id has the numbers of the limit. */
export function burstCurve(clients: ClientTable): BurstCurve | undefined {
  const ofPasses = clients.need.map((needs) => needCounts(clients, needs));
  const bursts = [...new Set(ofPasses.flatMap((needs) => needs.map(({ need }) => need)))].toSorted((a, b) => a - b);
  if (bursts.length === 0) return undefined;
  const points = thinned(bursts).map((burst): CurvePoint => {
    const above = ofPasses.map((needs) => sumAbove(needs, burst));
    const scaled = (pick: 'ids' | 'requests'): Band => bandOf(above.map((sum) => sum[pick] * clients.sampling));
    return { burst, deniedIds: scaled('ids'), theirRequests: scaled('requests') };
  });
  const knee = kneeOf(points.map(({ burst, deniedIds }) => ({ x: burst, y: 1 + deniedIds.high })));
  return { points, knee: points[knee]?.burst ?? null };
}

/** Ids that need one burst. */
interface NeedCount {
  readonly need: number;
  ids: number;
  requests: number;
}

function needCounts(clients: ClientTable, needs: Float64Array): NeedCount[] {
  const counts = new Map<number, NeedCount>();
  for (const row of clients.used()) {
    const need = needs[row]!;
    if (need === 0 || clients.overridden[row] === 1) continue;
    let count = counts.get(need);
    if (count === undefined) counts.set(need, (count = { need, ids: 0, requests: 0 }));
    count.ids++;
    count.requests += clients.requests[row]!;
  }
  return [...counts.values()];
}

function sumAbove(needs: readonly NeedCount[], burst: number): { ids: number; requests: number } {
  const sum = { ids: 0, requests: 0 };
  for (const { need, ids, requests } of needs) {
    if (need <= burst) continue;
    sum.ids += ids;
    sum.requests += requests;
  }
  return sum;
}

/** Leaves out bursts between others, at equal distances of their logarithms. The first and the last stay. */
function thinned(bursts: readonly number[]): readonly number[] {
  if (bursts.length <= MAX_POINTS) return bursts;
  const [first, last] = [bursts[0]!, bursts.at(-1)!];
  const step = Math.log(last / first) / (MAX_POINTS - 1);
  let next = first;
  return bursts.filter((burst) => {
    if (burst !== last && burst < next) return false;
    next = Math.max(burst + 1, burst * Math.exp(step));
    return true;
  });
}

/** A point of a falling curve. */
interface CurveXY {
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
function kneeOf(points: readonly CurveXY[]): number {
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

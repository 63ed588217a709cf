import type { Random } from '../random.ts';

/** One request that comes to one of the processes. */
export interface Arrival {
  readonly atMs: number;
  readonly process: number;
  readonly tokens: number;
}

/** Requests for one bucket. */
export interface Traffic {
  readonly name: string;
  /** How many tokens are asked for, for each token of the rate. */
  readonly ofRate: number;
  readonly costs: readonly [least: number, most: number];
  /** The process of a request. */
  readonly processAt: (atMs: number, processes: number, random: Random) => number;
}

const evenly = (_: number, processes: number, random: Random): number => random.whole(0, processes - 1);

/** Every 300 ms, all requests come to another process. */
const MOVES_EVERY_MS = 300;
/** The first process gets five times as many requests as each of the others. */
const SKEW = 5;

export const EVEN: Traffic = { name: 'even, 0.9 of the rate', ofRate: 0.9, costs: [1, 1], processAt: evenly };

export const MOVING: Traffic = {
  ...EVEN,
  name: 'moving, 3 × the rate',
  ofRate: 3,
  processAt: (atMs, processes) => Math.floor(atMs / MOVES_EVERY_MS) % processes,
};

export const TRAFFICS: readonly Traffic[] = [
  EVEN,
  { ...EVEN, name: 'even, 2 × the rate', ofRate: 2 },
  {
    ...EVEN,
    name: 'skewed 5:1, 2 × the rate',
    ofRate: 2,
    processAt: (_, processes, random) => Math.max(0, random.whole(1 - SKEW, processes - 1)),
  },
  MOVING,
  { ...EVEN, name: 'hammering, 10 × the rate', ofRate: 10 },
  { ...EVEN, name: 'costs 1 to 50, 2 × the rate', ofRate: 2, costs: [1, 50] },
];

/** All requests of a traffic, in the order of their times. */
export function arrivalsOf(
  { ofRate, costs: [least, most], processAt }: Traffic,
  {
    perSecond,
    processes,
    seconds,
  }: { readonly perSecond: number; readonly processes: number; readonly seconds: number },
  random: Random,
): readonly Arrival[] {
  const arrivals: Arrival[] = [];
  const meanGapMs = (1000 * (least + most)) / 2 / (ofRate * perSecond);
  for (let atMs = 0; ;) {
    atMs -= Math.log(1 - random.next()) * meanGapMs;
    if (atMs >= 1000 * seconds) return arrivals;
    arrivals.push({ atMs, process: processAt(atMs, processes, random), tokens: random.whole(least, most) });
  }
}

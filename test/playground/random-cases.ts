import type { Arrival, Case, TypedLimit } from '../../site/playground/case.ts';

/** Returns numbers from 0 (inclusive) to 1 (exclusive), the same in every runtime (mulberry32). */
export function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns one of many cases: one limit or two, some with a queue, and up to twelve requests, some of them at once. */
export function randomCase(random: () => number): Case {
  const whole = (from: number, to: number): number => from + Math.floor(random() * (to - from + 1));
  const one = <T>(of: readonly T[]): T => of[whole(0, of.length - 1)]!;
  const limit = (): TypedLimit => ({
    burst: one(['', String(whole(1, 9))]),
    count: String(whole(1, 9)),
    period: one(['1s', '7s', '333ms', '1m', '1h']),
    maxWait: one(['', '', '1s', '250ms']),
  });
  let atMs = 0;
  const arrivals = Array.from({ length: whole(1, 12) }, (): Arrival => {
    atMs += one([0, 0, 1, whole(1, 300), whole(1, 5000)]);
    return { atMs, cost: one([1, 1, 1, whole(0, 10)]) };
  });
  return { limits: one([[limit()], [limit(), limit()]]), cost: '1', arrivals };
}

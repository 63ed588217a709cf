/** A sequence of random numbers that is the same for the same seed: mulberry32. */
export function randomFrom(seed: number): {
  readonly below: (end: number) => number;
  readonly oneOf: <T>(values: readonly T[]) => T;
} {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return { below, oneOf: (values) => values[below(values.length)]! };
}

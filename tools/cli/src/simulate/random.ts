/**
 * Returns a function that returns numbers from 0 up to, not including, 1: the same for the same seed, on any machine. The
 * generator is mulberry32 by Tommy Ettinger, with 32 bits of state.
 *
 * @param seed - A whole number from 0 to 2³² − 1.
 */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Absorbs the error of a product of two doubles: 0.07 × 100 is 7.000000000000001, and must not be class 7. */
const ROUNDING = 1e-9;

/**
 * Returns the part of the clients with a share that is shed at a level, from 0 to 1.
 *
 * A share belongs to one of `classes` classes of equal width; class i is shed while the level goes from i / classes to
 * (i + 1) / classes. So a class is shed only when the one below is shed wholly, and a share of 1 comes last.
 *
 * @param level - 0 to 1.
 * @param share - Above 0, at most 1.
 */
export function shedPart(level: number, share: number, classes: number): number {
  const index = Math.ceil(share * classes - ROUNDING) - 1;
  return Math.min(1, Math.max(0, level * classes - Math.max(0, index)));
}

import type { Band } from '../counting/band.ts';
import { percent } from '../counting/figures-text.ts';

/** Returns the part of denied requests that had succeeded. */
export function successPart(counts: { readonly denied: Band; readonly deniedSuccesses: Band }): string {
  return partOf(counts.deniedSuccesses, counts.denied.high);
}

/** Returns a part of a whole in percent, of the larger outcome. */
export function partOf(part: Band, whole: number): string {
  return percent(whole === 0 ? 0 : part.high / whole);
}

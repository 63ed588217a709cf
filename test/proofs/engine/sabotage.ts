/**
 * Breaks one operator of the sources at a time while they run on plain numbers. A claim that is true whatever is broken does
 * not depend on the sources: see evidence.ts.
 *
 * @module
 */

/** A place in a source: an operator, or an expression of a script. */
export type Site = string | object;

/** What becomes of a number. What becomes of a boolean is its opposite. */
const CHANGES: readonly ((value: number) => number)[] = [
  () => 0,
  (value) => value + 1,
  (value) => value - 1,
  (value) => Math.trunc(value / 2),
  (value) => 2 * value + 1000,
];

/** A place that was executed, and all results that it had. */
export interface Executed {
  readonly site: Site;
  readonly results: Set<unknown>;
}

/** The places that are executed while something is traced. */
let traced: Map<Site, Executed> | undefined;
let broken: { readonly site: Site; readonly change: (value: number) => number } | undefined;
/** Whether the broken place had a number: on anything else, all changes do the same. */
let hadNumber = false;

/** A loop whose condition is broken may not end. */
const MOST_STEPS = 20_000;
let steps = 0;

/** The result of an operator at a place. */
export function resultAt<T>(value: T, site: Site | undefined): T {
  if (site === undefined) return value;
  if (traced !== undefined) trace(traced, value, site);
  if (broken === undefined) return value;
  if (++steps > MOST_STEPS) throw new Error('What is broken does not end');
  return site === broken.site ? (changed(value, broken.change) as T) : value;
}

function trace(places: Map<Site, Executed>, value: unknown, site: Site): void {
  const known = places.get(site);
  if (known === undefined) places.set(site, { site, results: new Set([value]) });
  else known.results.add(value);
}

function changed(value: unknown, change: (value: number) => number): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value !== 'number') return value;
  hadNumber = true;
  return change(value);
}

/**
 * Returns the places that something executes, in the order in which it does so first.
 *
 * @param run - Is given a function that counts the places so far.
 */
export function sitesOf(run: (count: () => number) => void): readonly Executed[] {
  const places = new Map<Site, Executed>();
  traced = places;
  try {
    run(() => places.size);
    return [...places.values()];
  } finally {
    traced = undefined;
  }
}

/** Runs something once for each way to break each of these places that changes what they do, until it returns true. */
export function sabotaged(sites: readonly Executed[], run: () => boolean): void {
  try {
    for (const { site, results } of sites) {
      for (const change of CHANGES) {
        if ([...results].every((result) => changed(result, change) === result)) continue;
        broken = { site, change };
        [steps, hadNumber] = [0, false];
        if (run()) return;
        if (!hadNumber) break;
      }
    }
  } finally {
    broken = undefined;
  }
}

/** An id, and how often it was denied. */
export interface DeniedId {
  readonly id: string;
  /** At most `error` too high, and never too low. */
  readonly denials: number;
  readonly error: number;
}

/** How many ids are counted for each limit. */
const SIZE = 1000;

/**
 * Counts which ids are denied most, in bounded memory: with n denials, each count is at most n / 1000 too high, and no id with more
 * denials than that is missing. The algorithm is Space-Saving (Metwally, Agrawal, El Abbadi: Efficient Computation of
 * Frequent and Top-k Elements in Data Streams, ICDT 2005): an id that has no place takes that of one with the fewest denials,
 * with its count.
 */
export class DeniedIds {
  readonly #counted = new Map<string, { denials: number; readonly error: number }>();
  /** The ids of each count, so that one with the fewest denials is found at once. */
  readonly #byDenials = new Map<number, Set<string>>();
  #fewest = 1;

  add(id: string): void {
    const counted = this.#counted.get(id);
    if (counted !== undefined) {
      this.#leave(id, counted.denials);
      counted.denials += 1;
      this.#enter(id, counted.denials);
    } else if (this.#counted.size < SIZE) this.#begin(id, 0);
    else this.#begin(id, this.#takePlace());
  }

  /** Returns the ids with the most denials, the most first. */
  top(n: number): readonly DeniedId[] {
    return [...this.#counted]
      .map(([id, { denials, error }]) => ({ id, denials, error }))
      .toSorted((one, other) => other.denials - one.denials)
      .slice(0, n);
  }

  #begin(id: string, error: number): void {
    this.#counted.set(id, { denials: error + 1, error });
    this.#enter(id, error + 1);
  }

  /** Forgets one of the ids with the fewest denials, and returns their number. */
  #takePlace(): number {
    while (!this.#byDenials.has(this.#fewest)) this.#fewest++;
    const denials = this.#fewest;
    const [id] = this.#byDenials.get(denials)!;
    this.#leave(id!, denials);
    this.#counted.delete(id!);
    return denials;
  }

  #enter(id: string, denials: number): void {
    const ids = this.#byDenials.get(denials);
    if (ids === undefined) this.#byDenials.set(denials, new Set([id]));
    else ids.add(id);
  }

  #leave(id: string, denials: number): void {
    const ids = this.#byDenials.get(denials)!;
    ids.delete(id);
    if (ids.size === 0) this.#byDenials.delete(denials);
  }
}

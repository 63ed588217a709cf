/** Absorbs the error of a product of two doubles: 0.07 × 100 is 7.000000000000001, and must not be class 7. */
const ROUNDING = 1e-9;

/** So that a function that returns ever different shares does not make ever more classes. */
const MAX_FOUND = 10;

/** The classes in which requests are shed one after the other, by their share. */
export class ShareClasses {
  /** The largest share of each class, in ascending order. The last one is 1. */
  readonly #bounds: number[];
  readonly #finds: boolean;

  /** @param count - So many classes of equal width. `undefined`: one for each share that {@link add} is called with. */
  constructor(count: number | undefined) {
    this.#bounds = Array.from({ length: count ?? 1 }, (_, i) => (i + 1) / (count ?? 1));
    this.#finds = count === undefined;
  }

  /** The level above which requests with the share 1 are shed; 0 when there is only one class. */
  get lastBegins(): number {
    return 1 - 1 / this.#bounds.length;
  }

  /**
   * Adds a class for a share, unless there is one or there are 10. The share then belongs to the class of the next larger
   * one.
   *
   * @param share - Above 0, at most 1.
   */
  add(share: number): void {
    if (share === 1 || !this.#finds || this.#bounds.length === MAX_FOUND) return;
    const index = this.#indexOf(share);
    if (share < this.#bounds[index]! - ROUNDING) this.#bounds.splice(index, 0, share);
  }

  /**
   * Returns the part of the clients with a share that is shed at a level, from 0 to 1.
   *
   * Class i of N is shed while the level goes from i / N to (i + 1) / N. So a class is shed only when the one below is
   * shed wholly, and a share of 1 comes last.
   *
   * @param level - 0 to 1.
   * @param share - Above 0, at most 1.
   */
  shedPart(level: number, share: number): number {
    return Math.min(1, Math.max(0, level * this.#bounds.length - this.#indexOf(share)));
  }

  #indexOf(share: number): number {
    let index = 0;
    while (this.#bounds[index]! + ROUNDING < share) index++;
    return index;
  }
}

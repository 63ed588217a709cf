/** Something in a heap. */
export interface Placed {
  /** Used by the heap: its place, or −1 when it is in no heap. */
  place: number;
}

/** A binary heap from which any item can be removed in O(log n). */
export class Heap<T extends Placed> {
  readonly #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  /** @param isBefore - Whether an item comes before another one. */
  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  get size(): number {
    return this.#items.length;
  }

  /** In no particular order. */
  get all(): readonly T[] {
    return this.#items;
  }

  add(item: T): void {
    this.#items.push(item);
    this.#moveUp(item, this.#items.length - 1);
  }

  /** Removes an item; does nothing when it is in no heap. */
  delete(item: T): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.#items.pop()!;
    if (last === item) return;
    this.#moveUp(last, place);
    this.#moveDown(last, last.place);
  }

  /** Moves an item whose order has changed. */
  move(item: T): void {
    this.#moveUp(item, item.place);
    this.#moveDown(item, item.place);
  }

  #moveUp(item: T, from: number): void {
    let place = from;
    while (place > 0) {
      const parent = this.#items[(place - 1) >> 1]!;
      if (!this.#isBefore(item, parent)) break;
      this.#put(parent, place);
      place = (place - 1) >> 1;
    }
    this.#put(item, place);
  }

  #moveDown(item: T, from: number): void {
    const items = this.#items;
    let place = from;
    for (let below = 2 * place + 1; below < items.length; below = 2 * place + 1) {
      if (below + 1 < items.length && this.#isBefore(items[below + 1]!, items[below]!)) below++;
      if (!this.#isBefore(items[below]!, item)) break;
      this.#put(items[below]!, place);
      place = below;
    }
    this.#put(item, place);
  }

  #put(item: T, place: number): void {
    this.#items[place] = item;
    item.place = place;
  }
}

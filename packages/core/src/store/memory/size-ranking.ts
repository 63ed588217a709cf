/** An item whose size changes. */
export interface Ranked {
  readonly size: number;
  /** Its index in the heap. Only the ranking writes it. */
  rank: number;
  /** The size by which it is ranked, at least its current size. Only the ranking writes it. */
  rankedSize: number;
}

/**
 * Finds the largest of many items: a binary heap in which each parent is ranked at least as large as its children.
 *
 * Only growth must be reported. An item that has shrunk keeps its rank until it is at the top, where `largest` corrects
 * it. An item that alternately gains and loses, such as the table under a flood, therefore does not move.
 */
export class SizeRanking<Item extends Ranked> {
  readonly #heap: Item[] = [];

  add(item: Item): void {
    this.#heap.push(item);
    this.#rise(item, this.#heap.length - 1, item.size);
  }

  /** Call it when an item's `size` exceeds its `rankedSize`. */
  grown(item: Item): void {
    this.#rise(item, item.rank, item.size);
  }

  remove(item: Item): void {
    this.#rise(item, item.rank, Infinity);
    const last = this.#heap.pop()!;
    if (last !== item) this.#sink(last);
  }

  /** Returns a largest item. There must be at least one item. */
  largest(): Item {
    for (;;) {
      const top = this.#heap[0]!;
      if (top.rankedSize === top.size) return top;
      top.rankedSize = top.size;
      this.#sink(top);
    }
  }

  #rise(item: Item, from: number, rankedSize: number): void {
    item.rankedSize = rankedSize;
    let rank = from;
    while (rank > 0) {
      const parent = this.#heap[(rank - 1) >> 1]!;
      if (parent.rankedSize >= rankedSize) break;
      this.#put(parent, rank);
      rank = (rank - 1) >> 1;
    }
    this.#put(item, rank);
  }

  /** Moves an item down from the top. */
  #sink(item: Item): void {
    let rank = 0;
    for (;;) {
      const child = this.#largerChild(rank);
      if (child === undefined || child.rankedSize <= item.rankedSize) break;
      const next = child.rank;
      this.#put(child, rank);
      rank = next;
    }
    this.#put(item, rank);
  }

  #largerChild(rank: number): Item | undefined {
    const left = this.#heap[2 * rank + 1];
    const right = this.#heap[2 * rank + 2];
    return right !== undefined && right.rankedSize > left!.rankedSize ? right : left;
  }

  #put(item: Item, rank: number): void {
    this.#heap[rank] = item;
    item.rank = rank;
  }
}

/** Something that grows and shrinks. */
export interface Ranked {
  readonly size: number;
  /** Its index in the ranking. Only the ranking writes it. */
  rank: number;
  /** The size that it is ranked by, which is at least its size. Only the ranking writes it. */
  rankedSize: number;
}

/**
 * Finds the largest of many items: a binary heap, whose parents are ranked at least as large as their children.
 *
 * Only an item that has grown must be reported. An item that has shrunk keeps its rank until it is at the top, where
 * `largest` corrects it. So an item that gains and loses by turns, such as the table under a flood, never moves.
 */
export class SizeRanking<Item extends Ranked> {
  readonly #heap: Item[] = [];

  add(item: Item): void {
    this.#heap.push(item);
    this.#rise(item, this.#heap.length - 1, item.size);
  }

  /** Must be called when an item's `size` exceeds its `rankedSize`. */
  grown(item: Item): void {
    this.#rise(item, item.rank, item.size);
  }

  remove(item: Item): void {
    this.#rise(item, item.rank, Infinity);
    const last = this.#heap.pop()!;
    if (last !== item) this.#sink(last);
  }

  /** The largest item, or one of the largest. There must be at least one item. */
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

/** Values with the times at which they end. The one that ends first is taken first: a binary heap. */
export class EndQueue<Value> {
  readonly #ends: number[] = [];
  readonly #values: Value[] = [];

  get size(): number {
    return this.#ends.length;
  }

  /** When the first value ends; `Infinity` if there is none. */
  get firstEnd(): number {
    return this.#ends[0] ?? Infinity;
  }

  add(end: number, value: Value): void {
    let at = this.#ends.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#ends[parent]! <= end) break;
      this.#set(at, this.#ends[parent]!, this.#values[parent]!);
      at = parent;
    }
    this.#set(at, end, value);
  }

  /** Removes the value that ends first, and returns it. There must be one. */
  take(): Value {
    const first = this.#values[0]!;
    const [end, value] = [this.#ends.pop()!, this.#values.pop()!];
    const size = this.#ends.length;
    if (size === 0) return first;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && this.#ends[child + 1]! < this.#ends[child]!) child++;
      if (end <= this.#ends[child]!) break;
      this.#set(at, this.#ends[child]!, this.#values[child]!);
      at = child;
    }
    this.#set(at, end, value);
    return first;
  }

  #set(at: number, end: number, value: Value): void {
    this.#ends[at] = end;
    this.#values[at] = value;
  }
}

/**
 * A bounded map with two ranks, each in the order of last use. When it is full, the least recently used entry of the
 * larger rank is removed. A flood of entries of the lower rank therefore does not displace those of the upper one, up
 * to half of all.
 */
export class EntryTable<Entry> {
  readonly #maxEntries: number;
  #lower = new Map<string, Entry>();
  #upper = new Map<string, Entry>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** Returns an entry and marks it as used. */
  get(key: string): Entry | undefined {
    const rank = this.#upper.has(key) ? this.#upper : this.#lower;
    const entry = rank.get(key);
    if (entry === undefined) return undefined;
    rank.delete(key);
    rank.set(key, entry);
    return entry;
  }

  /** Adds an entry to the lower rank. */
  add(key: string, entry: Entry): void {
    this.#lower.set(key, entry);
    if (this.#lower.size + this.#upper.size <= this.#maxEntries) return;
    const larger = this.#lower.size > this.#upper.size ? this.#lower : this.#upper;
    const [oldest] = larger.keys();
    larger.delete(oldest!);
  }

  /** Moves an entry to a rank. An entry that was removed meanwhile is not added again. */
  rank(key: string, entry: Entry, isUpper: boolean): void {
    const [to, from] = isUpper ? [this.#upper, this.#lower] : [this.#lower, this.#upper];
    if (from.get(key) !== entry) return;
    from.delete(key);
    to.set(key, entry);
  }

  delete(key: string): void {
    this.#lower.delete(key);
    this.#upper.delete(key);
  }

  clear(): void {
    this.#lower.clear();
    this.#upper.clear();
  }
}

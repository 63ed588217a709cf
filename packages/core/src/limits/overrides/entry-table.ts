/**
 * A bounded map in two ranks, each in the order of last use. When it is full, the larger rank loses what was used
 * longest ago: a flood of entries of the lower rank does not displace those of the upper one, up to half of all.
 */
export class EntryTable<Entry> {
  readonly #maxEntries: number;
  #lower = new Map<string, Entry>();
  #upper = new Map<string, Entry>();

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  /** Gives an entry, which counts as a use. */
  get(key: string): Entry | undefined {
    const rank = this.#upper.has(key) ? this.#upper : this.#lower;
    const entry = rank.get(key);
    if (entry === undefined) return undefined;
    rank.delete(key);
    rank.set(key, entry);
    return entry;
  }

  /** Adds an entry in the lower rank. */
  add(key: string, entry: Entry): void {
    this.#lower.set(key, entry);
    if (this.#lower.size + this.#upper.size <= this.#maxEntries) return;
    const larger = this.#lower.size > this.#upper.size ? this.#lower : this.#upper;
    const [oldest] = larger.keys();
    larger.delete(oldest!);
  }

  /** Puts an entry into a rank. One that was displaced or deleted meanwhile stays away. */
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

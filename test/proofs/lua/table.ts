/** A table of Lua. Keys are plain values. */
export class LuaTable {
  readonly entries = new Map<unknown, unknown>();

  static of(values: readonly unknown[]): LuaTable {
    const table = new LuaTable();
    for (const [i, value] of values.entries()) table.set(i + 1, value);
    return table;
  }

  get(key: unknown): unknown {
    return this.entries.get(key);
  }

  set(key: unknown, value: unknown): void {
    if (value === undefined) this.entries.delete(key);
    else this.entries.set(key, value);
  }

  get length(): number {
    let length = 0;
    while (this.entries.has(length + 1)) length++;
    return length;
  }

  get values(): readonly unknown[] {
    return Array.from({ length: this.length }, (_, i) => this.get(i + 1));
  }
}

/**
 * Remembers what was made of a text, for the texts that were used lately: between `most` and 2 × `most` of them. Most lines
 * of a log have a client and a path of another line shortly before.
 */
export class ValueCache<Value> {
  readonly #most: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(most: number) {
    this.#most = most;
  }

  get(text: string): Value | undefined {
    const value = this.#young.get(text);
    if (value !== undefined) return value;
    const old = this.#old.get(text);
    if (old !== undefined) this.set(text, old);
    return old;
  }

  set(text: string, value: Value): void {
    if (this.#young.size >= this.#most) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(text, value);
  }
}

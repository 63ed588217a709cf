/** The body of a frame that was received, read from front to back. It is valid until the next frame is read. */
export class Frame {
  readonly #numbers: Float64Array;
  readonly #count: number;
  readonly #text: string;
  #next = 0;
  #nextUnit = 0;
  /** The limit of the entry that was read last. */
  limit: string | undefined;

  /** @param count - How many of the numbers belong to the frame. */
  constructor(numbers: Float64Array, count: number, text: string) {
    this.#numbers = numbers;
    this.#count = count;
    this.#text = text;
  }

  /** Whether everything was read. */
  get isAtEnd(): boolean {
    return this.#next === this.#count;
  }

  /** @throws {Error} At the end of the frame. */
  number(): number {
    if (this.#next >= this.#count) throw new Error('sent a frame that is too short');
    return this.#numbers[this.#next++]!;
  }

  /** Reads a number of things, each of which has at least one number in the frame. */
  count(): number {
    const count = this.number();
    if (isWhole(count) && count <= this.#count - this.#next) return count;
    throw new Error(`sent a frame that has no ${count} entries`);
  }

  text(): string {
    const length = this.number();
    const end = this.#nextUnit + length;
    if (!isWhole(length) || end > this.#text.length) throw new Error('sent a frame whose text is too short');
    const text = this.#text.slice(this.#nextUnit, end);
    this.#nextUnit = end;
    return text;
  }
}

function isWhole(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

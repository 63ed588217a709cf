import type { Figures } from './figures.ts';

/** The emptiest buckets, a bounded number of them. */
export class Emptiest {
  readonly #most: number;
  readonly #names = new Set<string>();
  #list: Figures[] = [];

  /** @param most - How many buckets are kept. */
  constructor(most: number) {
    this.#most = most;
  }

  /** From the emptiest on. */
  get list(): readonly Figures[] {
    return this.#list;
  }

  /** Adds a bucket. One that is there already is not added again. */
  add(figures: Figures): void {
    const last = this.#list.at(-1);
    if (this.#list.length === this.#most && byEmptiness(figures, last!) >= 0) return;
    const name = nameOf(figures);
    if (this.#names.has(name)) return;
    this.#names.add(name);
    this.#list = [...this.#list, figures].toSorted(byEmptiness);
    if (this.#list.length > this.#most) this.#names.delete(nameOf(this.#list.pop()!));
  }
}

function nameOf({ limit, id }: Figures): string {
  return `${limit}:${id}`;
}

/** By the part that is left, then by the time until the bucket is full, which shows a debt. */
function byEmptiness(a: Figures, b: Figures): number {
  const byPart = a.remaining / a.burst - b.remaining / b.burst;
  return byPart || b.resetAfterMs - a.resetAfterMs || (nameOf(a) < nameOf(b) ? -1 : 1);
}

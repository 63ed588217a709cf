/** A request that passed: it was decided at a moment between the two. */
export interface Passed {
  readonly id: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * The most requests that passed in any window beyond what comes back in it: the maximum of admitted(window) − rate × length
 * over all windows. A request counts only where it was certainly decided within the window.
 *
 * @param passed - Of one id.
 */
export function mostBeyond(passed: readonly Pick<Passed, 'fromMs' | 'toMs'>[], perMs: number): number {
  const ends = passed.toSorted((a, b) => a.toMs - b.toMs);
  const windows = new WindowEnds(ends.map(({ toMs }) => -perMs * toMs));
  const beginnings = [...ends.keys()].toSorted((a, b) => ends[b]!.fromMs - ends[a]!.fromMs);
  let most = 0;
  // The windows from each beginning, the last beginning first: each adds one request to all windows that contain it.
  for (const index of beginnings) {
    windows.add(index);
    most = Math.max(most, windows.most + perMs * ends[index]!.fromMs);
  }
  return most;
}

/** For each possible end of a window a value: the requests up to it minus what came back. A tree of maxima. */
class WindowEnds {
  readonly #leaves: number;
  readonly #values: readonly number[];
  readonly #most: Float64Array;
  readonly #added: Float64Array;

  constructor(values: readonly number[]) {
    this.#values = values;
    this.#leaves = 2 ** Math.ceil(Math.log2(Math.max(1, values.length)));
    this.#most = new Float64Array(2 * this.#leaves).fill(-Infinity);
    this.#added = new Float64Array(2 * this.#leaves);
  }

  get most(): number {
    return this.#most[1]!;
  }

  /** Makes the window possible that ends with this request, and adds it to all that end then or later. */
  add(index: number): void {
    let node = this.#leaves + index;
    this.#most[node] = this.#values[index]! + this.#added[node]! + 1;
    this.#added[node]! += 1;
    for (; node > 1; node >>= 1) {
      if (node % 2 === 0) {
        this.#most[node + 1]! += 1;
        this.#added[node + 1]! += 1;
      }
      const parent = node >> 1;
      this.#most[parent] = Math.max(this.#most[node & ~1]!, this.#most[node | 1]!) + this.#added[parent]!;
    }
  }
}

/** Something whose turn comes at a time. */
export interface Turn {
  /** On the clock, in microseconds. */
  readonly dueMicros: number;
  /** Used by the heap: its place, or −1 when it is in no heap. */
  place: number;
}

/** Turns by their times: a binary heap, from which any of them can be removed in O(log n). */
export class TurnHeap<T extends Turn> {
  readonly #turns: T[] = [];

  get first(): T | undefined {
    return this.#turns[0];
  }

  /** In no particular order. */
  get all(): readonly T[] {
    return this.#turns;
  }

  add(turn: T): void {
    this.#turns.push(turn);
    this.#moveUp(turn, this.#turns.length - 1);
  }

  /** Removes a turn that is in the heap. */
  delete(turn: T): void {
    const { place } = turn;
    turn.place = -1;
    const last = this.#turns.pop()!;
    if (last === turn) return;
    this.#moveUp(last, place);
    this.#moveDown(last, last.place);
  }

  /** Removes all turns, and returns them in no particular order. */
  clear(): T[] {
    const all = this.#turns.splice(0);
    for (const turn of all) turn.place = -1;
    return all;
  }

  #moveUp(turn: T, from: number): void {
    const turns = this.#turns;
    let place = from;
    while (place > 0) {
      const parent = turns[(place - 1) >> 1]!;
      if (parent.dueMicros <= turn.dueMicros) break;
      this.#put(parent, place);
      place = (place - 1) >> 1;
    }
    this.#put(turn, place);
  }

  #moveDown(turn: T, from: number): void {
    const turns = this.#turns;
    let place = from;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= turns.length) break;
      if (below + 1 < turns.length && turns[below + 1]!.dueMicros < turns[below]!.dueMicros) below++;
      if (turns[below]!.dueMicros >= turn.dueMicros) break;
      this.#put(turns[below]!, place);
      place = below;
    }
    this.#put(turn, place);
  }

  #put(turn: T, place: number): void {
    this.#turns[place] = turn;
    turn.place = place;
  }
}

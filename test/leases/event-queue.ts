/** Events in the order of their times; those of one time in the order in which they were added. A binary heap. */
export class EventQueue {
  nowTicks = 0;
  readonly #heap: { readonly at: number; readonly order: number; readonly run: () => void }[] = [];
  #order = 0;

  /** Adds an event. One in the past happens now. */
  at(ticks: number, run: () => void): void {
    const heap = this.#heap;
    const event = { at: Math.max(ticks, this.nowTicks), order: this.#order++, run };
    let i = heap.length;
    heap.push(event);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (isBefore(heap[parent]!, event)) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = event;
  }

  /** Runs all events up to a time. */
  runUntil(ticks: number): void {
    while (this.#heap.length > 0 && this.#heap[0]!.at <= ticks) {
      const { at, run } = this.#pop();
      this.nowTicks = at;
      run();
    }
    this.nowTicks = ticks;
  }

  #pop(): { readonly at: number; readonly run: () => void } {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (isBefore(last, heap[child]!)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
    return first;
  }
}

function isBefore(one: { at: number; order: number }, other: { at: number; order: number }): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

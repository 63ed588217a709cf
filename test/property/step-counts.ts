const number = new Intl.NumberFormat('en');

/** How many steps of which kind were taken, and what else happened on the way. */
export class StepCounts {
  readonly #steps = new Map<string, number>();
  readonly #others = new Map<string, number>();

  /** All steps. One that has changed nothing, because there was nothing to change, is none. */
  get total(): number {
    return [...this.#steps.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Counts a step. */
  step(kind: string): void {
    this.#steps.set(kind, (this.#steps.get(kind) ?? 0) + 1);
  }

  /** Counts something else. */
  note(what: string, count = 1): void {
    if (count > 0) this.#others.set(what, (this.#others.get(what) ?? 0) + count);
  }

  /** How often something has happened. */
  of(what: string): number {
    return this.#steps.get(what) ?? this.#others.get(what) ?? 0;
  }

  /** Everything in one line, e.g. `1,204 steps: 1,000 acquired, 204 crashes; 12 slots expired`. */
  line(): string {
    const others = this.#others.size === 0 ? '' : `; ${listed(this.#others)}`;
    return `${number.format(this.total)} steps: ${listed(this.#steps)}${others}`;
  }
}

function listed(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  return sorted.map(([what, count]) => `${number.format(count)} ${what}`).join(', ');
}

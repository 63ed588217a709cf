/** The most steps of a {@link Timeline}. */
const MAX_STEPS = 240;

/** Counts over time, in steps that become longer as the log does: at first one second, then two, four, and so on. */
export class Timeline {
  stepSeconds = 1;
  readonly #startSecond: number;
  /** One list for each kind of counts. */
  readonly counts: number[][];

  /** @param startSecond - Seconds since 1970 of the first step. */
  constructor(startSecond: number, kinds: number) {
    this.#startSecond = startSecond;
    this.counts = Array.from({ length: kinds }, () => []);
  }

  /** Adds to a count at a time. A time before the start counts as the start. */
  add(second: number, kind: number, count: number): void {
    let step = this.#stepOf(second);
    while (step >= MAX_STEPS) {
      this.#double();
      step = this.#stepOf(second);
    }
    const counts = this.counts[kind]!;
    while (counts.length <= step) counts.push(0);
    counts[step]! += count;
  }

  /** Returns the counts as data, all lists of one length. */
  report(): TimelineReport {
    const steps = Math.max(...this.counts.map(({ length }) => length));
    const counts = this.counts.map((list) => Array.from({ length: steps }, (_, i) => list[i] ?? 0));
    return { startMs: this.#startSecond * 1000, stepMs: this.stepSeconds * 1000, counts };
  }

  #stepOf(second: number): number {
    return Math.max(0, Math.floor((second - this.#startSecond) / this.stepSeconds));
  }

  #double(): void {
    this.stepSeconds *= 2;
    for (const list of this.counts) {
      const half = Math.ceil(list.length / 2);
      for (let i = 0; i < half; i++) list[i] = list[2 * i]! + (list[2 * i + 1] ?? 0);
      list.length = half;
    }
  }
}

/** A {@link Timeline} as data. */
export interface TimelineReport {
  /** Milliseconds since 1970 of the first step. */
  readonly startMs: number;
  /** The length of a step in milliseconds. */
  readonly stepMs: number;
  /** One list for each kind of counts, all of one length. */
  readonly counts: readonly (readonly number[])[];
}

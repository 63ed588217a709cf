/** The classes of durations, in seconds. */
export const DURATION_BOUNDS: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];

/** How many values are in each class, as Prometheus and OpenTelemetry count them. */
export interface HistogramCounts {
  /** The upper ends of the classes, each included in its class. Above the last one there is a class without an end. */
  readonly bounds: readonly number[];
  /** One for each class, the one without an end last. */
  readonly counts: readonly number[];
  readonly sum: number;
}

/** Counts values by classes. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  /** How many values there are. */
  size = 0;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = [...bounds.map(() => 0), 0];
  }

  add(value: number): void {
    let place = 0;
    while (place < this.#bounds.length && value > this.#bounds[place]!) place++;
    this.#counts[place]!++;
    this.size++;
    this.#sum += value;
  }

  counts(): HistogramCounts {
    return { bounds: this.#bounds, counts: [...this.#counts], sum: this.#sum };
  }
}

import type { Algorithm, Numbers } from './algorithm.ts';

interface Counters {
  index: number;
  before: number;
  current: number;
}

/**
 * Two counters, of the window of the clock and of the one before. The requests of the last window's length are estimated
 * as if those of the window before had been spread evenly over it: `before × the part of it that is still in + current`.
 *
 * @see https://blog.cloudflare.com/counting-things-a-lot-of-different-things/ "Sliding windows to the rescue"
 */
export class SlidingWindowCounter implements Algorithm {
  readonly #window: Numbers['window'];
  readonly #counters = new Map<string, Counters>();

  constructor({ window }: Pick<Numbers, 'window'>) {
    this.#window = window;
  }

  decide(id: string, atMicros: number, cost: number): number | undefined {
    const { most, micros } = this.#window;
    const counters = this.#countersAt(id, Math.floor(atMicros / micros));
    const left = micros - (atMicros % micros);
    // Both sides times the length of the window, so that all numbers are whole.
    if (counters.before * left + (counters.current + cost) * micros > most * micros) return undefined;
    counters.current += cost;
    return 0;
  }

  #countersAt(id: string, index: number): Counters {
    const last = this.#counters.get(id);
    if (last?.index === index) return last;
    const counters = { index, before: last?.index === index - 1 ? last.current : 0, current: 0 };
    this.#counters.set(id, counters);
    return counters;
  }
}

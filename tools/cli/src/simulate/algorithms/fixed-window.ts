import type { Algorithm, Numbers } from './algorithm.ts';

/**
 * A counter for each window of the clock: a request is allowed while the counter of the current window is not used up.
 * INCR with an expiry in Redis works like this, and so do most libraries by default.
 *
 * @see https://redis.io/docs/latest/commands/incr/ "Pattern: Rate limiter 1"
 */
export class FixedWindow implements Algorithm {
  readonly #window: Numbers['window'];
  readonly #counters = new Map<string, { index: number; count: number }>();

  constructor({ window }: Pick<Numbers, 'window'>) {
    this.#window = window;
  }

  decide(id: string, atMicros: number, cost: number): number | undefined {
    const index = Math.floor(atMicros / this.#window.micros);
    let counter = this.#counters.get(id);
    if (counter?.index !== index) this.#counters.set(id, (counter = { index, count: 0 }));
    if (counter.count + cost > this.#window.most) return undefined;
    counter.count += cost;
    return 0;
  }
}

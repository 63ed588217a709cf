import { TICKS_PER_MS } from '@sluice/core/kit';

/** One reading of a server's clock. All in ticks of 1/16 µs; `sent` and `got` on the process's own clock. */
export interface ClockSample {
  readonly sentTicks: number;
  readonly gotTicks: number;
  readonly serverTicks: number;
}

/**
 * What is known of how far a server's clock is ahead of ours.
 *
 * The server read its clock at some moment between `sent` and `got`, so its lead lies between server − got and
 * server − sent. What all samples agree on is kept; one that contradicts them means that a clock was set, that the two
 * clocks drifted apart, or that it is another server: then it alone counts.
 */
export class ServerClock {
  #lowTicks = -Infinity;
  #highTicks = Infinity;

  /** How far the estimate may be off, in milliseconds: at most the quickest round trip. Nothing is known before one. */
  get uncertaintyMs(): number | undefined {
    return this.#highTicks === Infinity ? undefined : (this.#highTicks - this.#lowTicks) / TICKS_PER_MS;
  }

  learn({ sentTicks, gotTicks, serverTicks }: ClockSample): void {
    const low = serverTicks - gotTicks;
    const high = serverTicks - sentTicks;
    const contradicts = low > this.#highTicks || high < this.#lowTicks;
    this.#lowTicks = contradicts ? low : Math.max(low, this.#lowTicks);
    this.#highTicks = contradicts ? high : Math.min(high, this.#highTicks);
  }

  /**
   * A moment of our clock in the server's time, never too late by the samples: what must be over by then is over.
   *
   * @param ticks - A moment on the process's own clock.
   */
  notAfter(ticks: number): number {
    return ticks + this.#lowTicks;
  }

  forget(): void {
    this.#lowTicks = -Infinity;
    this.#highTicks = Infinity;
  }
}

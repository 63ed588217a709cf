import { TICKS_PER_MS } from '../rule/ticks.ts';

/** One reading of a server's clock, in ticks of 1/16 µs. `sentTicks` and `gotTicks` are of the process's own clock. */
export interface ClockSample {
  readonly sentTicks: number;
  readonly gotTicks: number;
  readonly serverTicks: number;
}

/**
 * Estimates by how much a server's clock is ahead of the process's own clock.
 *
 * The server read its clock at some moment between `sent` and `got`, so the difference is between server − got and
 * server − sent. The estimate is the intersection of these intervals. If a sample contradicts it, a clock was set, the
 * clocks have drifted apart, or the server is another one: the estimate is then that sample alone.
 */
export class ServerClock {
  #lowTicks = -Infinity;
  #highTicks = Infinity;

  /** The width of the interval in milliseconds: at most the quickest round trip in it. `undefined` without a sample. */
  get uncertaintyMs(): number | undefined {
    return this.#highTicks === Infinity ? undefined : (this.#highTicks - this.#lowTicks) / TICKS_PER_MS;
  }

  /** Narrows the estimate by a reading of the server's clock. */
  learn({ sentTicks, gotTicks, serverTicks }: ClockSample): void {
    const low = serverTicks - gotTicks;
    const high = serverTicks - sentTicks;
    const contradicts = low > this.#highTicks || high < this.#lowTicks;
    this.#lowTicks = contradicts ? low : Math.max(low, this.#lowTicks);
    this.#highTicks = contradicts ? high : Math.min(high, this.#highTicks);
  }

  /**
   * Converts a moment to the server's time. The result is the earliest that the samples allow, so that a script never
   * writes after its deadline.
   *
   * @param ticks - A moment of the process's own clock.
   */
  notAfter(ticks: number): number {
    return ticks + this.#lowTicks;
  }

  /** Begins anew, for example with another server. */
  forget(): void {
    this.#lowTicks = -Infinity;
    this.#highTicks = Infinity;
  }
}
